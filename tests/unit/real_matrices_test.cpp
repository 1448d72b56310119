// SPDX-License-Identifier: BSD-3-Clause
// Real matrices, where they are: FURROW_DATA names a folder with INDEX.tsv and a folder a class. The small ones only,
// so that this stays a unit test.
#include "kit/data_folder.hpp"
#include "kit/operator_check.hpp"
#include "kit/options.hpp"
#include "kit/solve_check.hpp"

#include <furrow/io.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace furrow {
namespace {

namespace fs = std::filesystem;

struct real_matrices : testing::Test {
  fs::path folder;

  void SetUp() override {
    const auto found = kit::data_folder();
    if (!found) GTEST_SKIP() << "no real matrices: FURROW_DATA says where they are";
    folder = *found;
  }

  /// Files of a class up to so many bytes, by name.
  std::vector<fs::path> files(const std::string& kind, std::uintmax_t most_bytes) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder / kind))
      if (entry.path().string().ends_with(".mtx.gz") && entry.file_size() <= most_bytes) found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    EXPECT_FALSE(found.empty()) << kind;
    return found;
  }

  /// A column of INDEX.tsv by matrix name, where it holds a number.
  std::map<std::string, double> column(const std::string& wanted) const {
    std::ifstream file(folder / "INDEX.tsv");
    std::map<std::string, double> numbers;
    std::vector<std::string> head;
    for (std::string line, cell; std::getline(file, line);) {
      std::vector<std::string> cells;
      for (std::istringstream rest(line); std::getline(rest, cell, '\t');) cells.push_back(cell);
      if (head.empty()) head = cells;
      for (std::size_t c = 0; c < std::min(cells.size(), head.size()); ++c)
        if (head[c] == wanted && !cells[c].empty() && std::isdigit(static_cast<unsigned char>(cells[c][0])))
          numbers[cells[1]] = std::atof(cells[c].c_str());
    }
    return numbers;
  }
};

TEST_F(real_matrices, every_format_multiplies_them) {
  for (const char* kind : {"spd", "symmetric", "nonsymmetric", "rectangular", "graphs"})
    for (const auto& file : files(kind, 60000)) {
      SCOPED_TRACE(file.filename().string());
      const auto p = read_matrix(file);
      const kit::judged<double> judge(p.a);
      for (const format_entry* f : formats()) {
        SCOPED_TRACE(f->name);
        kit::check_format<double, kit::host_side>(*f, {}, "auto", device{}, judge, 2);
      }
    }
}

TEST_F(real_matrices, positive_definite_ones_are_solved_or_stop_honestly) {
  const auto expected = column("jacobi_cg_iterations");
  int converged = 0;
  for (const auto& file : files("spd", 250000)) {
    SCOPED_TRACE(file.filename().string());
    const auto p = read_matrix(file);
    solve_options o;
    o.solver = "cg";
    o.max_iterations = 3000;
    const auto b = kit::times(p.a, host_array<double>(p.a.shape.cols, 1.0));
    const auto s = kit::solve_honestly<double>(p.a, b, o);
    EXPECT_TRUE(s.report.why == status::converged || s.report.why == status::max_iterations ||
                s.report.why == status::stagnated)
        << s.report.message;
    converged += s.report.why == status::converged;
    const auto known = expected.find(p.name);
    if (known == expected.end() || known->second > 2000) continue;
    EXPECT_EQ(s.report.why, status::converged) << s.report.message;
    EXPECT_LE(double(s.report.iterations), 1.5 * known->second + 30);
  }
  EXPECT_GT(converged, 10);
}

/// The best x of nos7 has a residual of 9.5e-9 as it is computed, and one of 1.05e-8 in more digits.
TEST_F(real_matrices, a_residual_that_stays_is_that_of_the_x_that_comes_back) {
  const auto p = read_matrix(folder / "spd" / "nos7.mtx.gz");
  host_array<double> b(p.a.shape.rows, 0.0);
  for (index_t k = 0; k < p.a.nnz(); ++k) b[p.a.row[k]] += p.a.val[k]; // A * ones, rounded as it comes
  const auto s = kit::solve_honestly<double>(p.a, b, kit::options("direct", "lu", 1e-8));
  if (s.report.why == status::converged) return; // other sums of another processor
  ASSERT_EQ(s.report.why, status::stagnated) << s.report.message;
  EXPECT_GT(s.report.relative_residual, 1e-8);
  std::array<char, 32> said{};
  std::snprintf(said.data(), said.size(), "stays at %.3e", s.report.relative_residual);
  EXPECT_NE(s.report.message.find(said.data()), std::string::npos) << s.report.message;
}

TEST_F(real_matrices, indefinite_ones_are_not_called_solved_wrongly) {
  for (const auto& file : files("symmetric", 250000)) {
    SCOPED_TRACE(file.filename().string());
    const auto p = read_matrix(file);
    auto o = kit::options("cg", "none");
    o.max_iterations = 2000;
    const auto b = kit::times(p.a, host_array<double>(p.a.shape.cols, 1.0));
    try {
      kit::solve_honestly<double>(p.a, b, o);
    } catch (const error& e) { // skew-symmetric ones are refused
      EXPECT_EQ(e.kind, fault::input) << e.what();
    }
  }
}

} // namespace
} // namespace furrow
