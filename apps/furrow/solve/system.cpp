// SPDX-License-Identifier: BSD-3-Clause
#include "system.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"

#include <furrow/report.hpp>
#include <furrow/solver.hpp>

#include <cmath>
#include <utility>

namespace furrow::cli {
namespace {

class system_here final : public system_to_solve {
public:
  explicit system_here(problem p) : p_(std::move(p)) {
    shape = p_.a.shape, nnz = p_.a.nnz(), name = p_.name, origin = p_.origin;
  }
  void take_right_hand_side(const std::string& file, std::string& rhs) override {
    b_ = cli::right_hand_side(file, p_, rhs);
    count = b_.count;
  }
  void begin_with(const std::string& file) override {
    x_ = file.empty() ? vector_columns{host_array<double>(shape.cols * count, 0.0), count}
                      : first_guess(file, shape.cols, count);
  }
  checkpoint resume(const std::string& file, const system_fingerprint& print) override {
    checkpoint saved = read_checkpoint(file);
    check_is_of(saved, print, file);
    x_ = {std::exchange(saved.x, {}), 1};
    return saved;
  }
  double norm_of_right_hand_side(index_t column) override {
    return norm_of(part(as_cview(b_.values), column * shape.rows, shape.rows));
  }
  system_fingerprint print() override { return fingerprint(p_.a, as_cview(b_.values)); }
  matrix_sketch draw(const solve_options& options) override { return sketch(p_.a, options); }
  void solve(solve_request& q, solve_outcome& o) override {
    o.columns = solver<double>(std::move(p_.a), q.options).solve(as_cview(b_.values), as_view(x_.values), count);
  }
  double distance_from_ones() override { return cli::distance_from_ones(as_cview(x_.values)); }
  std::string keep_last(checkpoint_keeper& keeper, const solve_report& report) override {
    keeper.finish(report, as_cview(x_.values));
    return {};
  }
  void write_x(const std::string& file) override { write_vectors(as_cview(x_.values), x_.count, file); }

private:
  problem p_;
  vector_columns b_, x_;
};

} // namespace

double norm_of(cview<double> b) {
  double sum = 0;
  for (const double v : b) sum += v * v;
  return std::sqrt(sum);
}

double distance_from_ones(cview<double> x) {
  double most = 0;
  for (const double v : x) most = std::abs(v - 1) <= most ? most : std::abs(v - 1);
  return most;
}

vector_columns first_guess(const std::string& file, index_t size, index_t count) {
  vector_columns x = read_vectors_for(file, "--x0", size, "column");
  check(x.count == count, fault::input, "{}: holds {} for {}: --x0 wants one for each", file,
        counted(x.count, "first guess"), counted(count, "right-hand side"));
  return x;
}

std::unique_ptr<system_to_solve> read_here(const matrix_input& input) {
  return std::make_unique<system_here>(input.load());
}

} // namespace furrow::cli
