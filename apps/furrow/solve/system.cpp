// SPDX-License-Identifier: BSD-3-Clause
#include "system.hpp"

#include <furrow/report.hpp>
#include <furrow/solver.hpp>

namespace furrow::cli {
namespace {

class system_here final : public system_to_solve {
public:
  explicit system_here(problem p) : p_(std::move(p)) {
    shape = p_.a.shape, nnz = p_.a.nnz(), name = p_.name, origin = p_.origin;
  }
  vector_columns right_hand_side(const std::string& file, std::string& rhs) override {
    return cli::right_hand_side(file, p_, rhs);
  }
  system_fingerprint print(cview<double> b) override { return fingerprint(p_.a, b); }
  matrix_sketch draw(const solve_options& options) override { return sketch(p_.a, options); }
  void solve(solve_request& q, const vector_columns& b, vector_columns& x, solve_outcome& o) override {
    o.columns = solver<double>(std::move(p_.a), q.options).solve(as_cview(b.values), as_view(x.values), b.count);
  }

private:
  problem p_;
};

} // namespace

std::unique_ptr<system_to_solve> read_here(const matrix_input& input) {
  return std::make_unique<system_here>(input.load());
}

} // namespace furrow::cli
