// SPDX-License-Identifier: BSD-3-Clause
#include "io_test_kit.hpp"
#include "kit/data_folder.hpp"

#include <map>
#include <set>
#include <sstream>

using namespace furrow;
using namespace furrow::io_test;

namespace {

/// Lines of EXPECT.tsv that contradict the file itself: three values where four are due, and the words "garbled entry"
/// among the values. Both are refused.
const std::set<std::string> wrongly_expected = {"cholmod/fullcrud.mtx", "cholmod/fullcrud2.mtx"};
/// Files that other readers refuse: a banner with one percent sign, and line ends of the old Macintosh.
const std::set<std::string> taken_here = {"own/one_percent_banner.mtx", "fmm_py/misc__windows_newlines.mtx"};

/// Whether `rest` is ":LINE: ...".
bool says_line(const std::string& rest) {
  const std::size_t end = rest.find(": ");
  return rest.starts_with(':') && end != std::string::npos && end > 1 && rest.find_first_not_of("0123456789", 1) == end;
}

std::vector<std::map<std::string, std::string>> read_table(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> out;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::stringstream split(line);
    for (std::string cell; std::getline(split, cell, '\t');) cells.push_back(cell);
    if (names.empty()) {
      names = cells;
      continue;
    }
    auto& row = out.emplace_back();
    for (std::size_t k = 0; k < names.size() && k < cells.size(); ++k) row[names[k]] = cells[k];
  }
  return out;
}

} // namespace

TEST(parsing_suite, every_file_gets_what_it_deserves) {
  const auto data = kit::data_folder();
  if (!data) GTEST_SKIP() << "no test data: set FURROW_DATA to its folder";
  const auto folder = *data / "parsing";
  int accepted = 0, refused = 0;
  for (auto& row : read_table(folder / "EXPECT.tsv")) {
    SCOPED_TRACE(row["file"]);
    const auto file = folder / row["file"];
    std::optional<problem> got;
    std::string message;
    try {
      got = read_matrix(file);
    } catch (const error& wrong) {
      message = wrong.what();
      EXPECT_TRUE(wrong.kind == fault::input || wrong.kind == fault::memory) << message;
      EXPECT_EQ(message.rfind(file.string(), 0), 0u) << message;
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
      // Everything but an empty or damaged file has a line.
      const bool lineless =
          message.find("the file is empty") != std::string::npos || message.find("gzip") != std::string::npos;
      EXPECT_TRUE(lineless || says_line(message.substr(file.string().size()))) << message;
    }
    (got ? accepted : refused)++;
    if (wrongly_expected.count(row["file"])) {
      EXPECT_FALSE(got);
    } else if (taken_here.count(row["file"])) {
      EXPECT_TRUE(got);
    } else if (row["file"].starts_with("formats_hb/")) {
      EXPECT_NE(message.find("Harwell-Boeing"), std::string::npos) << message;
    } else if (row["expect"] == "reject") {
      EXPECT_FALSE(got);
      EXPECT_FALSE(message.empty());
    } else if (row["expect"] == "accept" && (row["field"] == "complex" || row["symmetry"] == "hermitian")) {
      EXPECT_FALSE(got);
      EXPECT_TRUE(message.find("complex") != std::string::npos || message.find("hermitian") != std::string::npos)
          << message;
    } else if (row["expect"] == "accept") {
      ASSERT_TRUE(got) << message;
      if (row["rows"].empty()) continue; // gzip: the table does not say more
      EXPECT_EQ(got->a.shape.rows, std::stoll(row["rows"]));
      EXPECT_EQ(got->a.shape.cols, std::stoll(row["cols"]));
      const matrix_header head = read_header(file);
      const bool dense = head.layout == matrix_header::layout::array;
      EXPECT_EQ(dense ? got->a.nnz() : head.stored, std::stoll(row["entries"]));
    }
    if (got && !row["file"].ends_with(".gz") && row["file"] != "own/gzip_named_mtx.mtx") {
      const auto plain = read_plainly(bytes_of(file));
      ASSERT_TRUE(plain);
      EXPECT_EQ(list(got->a), plain->entries);
    }
  }
  EXPECT_GT(accepted, 200);
  EXPECT_GT(refused, 100);
}

TEST(parsing_suite, zipped_files_read_as_they_are) {
  const auto data = kit::data_folder();
  if (!data) GTEST_SKIP() << "no test data: set FURROW_DATA to its folder";
  int count = 0;
  for (const char* part : {"spd", "symmetric", "nonsymmetric", "rectangular", "graphs"})
    for (const auto& one : std::filesystem::directory_iterator(*data / part)) {
      if (one.path().extension() != ".gz" || one.file_size() > 30000) continue;
      SCOPED_TRACE(one.path().filename().string());
      const auto text = gunzip(bytes_of(one.path()));
      ASSERT_TRUE(text);
      const auto plain = read_plainly(*text);
      if (!plain) {
        refusal([&] { read_matrix(one.path()); });
        continue;
      }
      EXPECT_EQ(list(read_matrix(one.path()).a), plain->entries);
      ++count;
    }
  EXPECT_GT(count, 10);
}
