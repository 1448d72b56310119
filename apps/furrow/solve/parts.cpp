// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "random_vector.hpp"
#include "system.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "distributed/together.hpp"
#include "tune/row_error.hpp"

#include <furrow/load_on_ranks.hpp>
#include <furrow/report.hpp>

#include <algorithm>

namespace furrow::cli {
namespace {

/// What the first rank asks all of them to do next.
enum class task : int { load, sums, product, print, gather, solve };

/// A rank's rows, and what is done with them by all ranks together. b and x are the first one's.
class rows_here {
public:
  explicit rows_here(communicator& c) : c(c) {}
  communicator& c;
  part_of_problem p;

  void load(const matrix_input* input) { p = input ? input->load_on_ranks(c) : furrow::load_on_ranks(c, ""); }

  /// A * ones on the first rank; and the largest |A[i,j]|.
  host_array<double> sums(double& largest) {
    host_array<double> mine;
    double own = 0;
    together(c, [&] { mine = row_sums(p.a), own = largest_entry(p.a); });
    largest = c.max(own);
    return gather_on_first(c, as_cview(mine));
  }
  /// A times a random vector.
  host_array<double> product() {
    host_array<double> mine;
    together(c, [&] {
      const auto exact = reference_product(p.a, as_cview(random_vector<double>(p.a.shape.cols))).value;
      mine = host_array<double>(exact.size());
      std::ranges::copy(exact, mine.begin());
    });
    return gather_on_first(c, as_cview(mine));
  }
  system_fingerprint print(cview<double> b) {
    host_array<double> mine(p.a.shape.rows);
    scatter_from_first(c, b, as_view(mine));
    return fingerprint(c, p.a, as_cview(mine));
  }
  coo<double> gather() { return gather_on_first(c, p.a); }
  ranks_report solve(cview<double> b, view<double> x, const solve_options& o, partition how) {
    return solve_rows_from_first(c, std::move(p.a), b, x, o, how);
  }
};

class system_on_ranks final : public system_to_solve {
public:
  system_on_ranks(communicator& c, const matrix_input& input, const std::string& file) : rows_(c) {
    all_do(task::load, [&] { rows_.load(&input); });
    part_of_problem& p = rows_.p;
    shape = {p.begins.back(), p.a.shape.cols}, nnz = p.entries, name = p.name, origin = p.origin;
    if (!p.first_because.empty()) remark(file, ": the first rank reads it for all: " + p.first_because);
  }

  vector_columns right_hand_side(const std::string& file, std::string& rhs) override {
    if (auto given = given_right_hand_side(file, rows_.p.b, shape.rows, name, rhs)) return std::move(*given);
    rhs = "ones";
    double largest = 0;
    host_array<double> b;
    all_do(task::sums, [&] { b = rows_.sums(largest); });
    if (nnz == 0 || !vanishes(b, largest)) return {std::move(b)};
    rhs = "random";
    remark(ones_in_null_space);
    all_do(task::product, [&] { b = rows_.product(); });
    return {std::move(b)};
  }
  system_fingerprint print(cview<double> b) override {
    system_fingerprint one;
    all_do(task::print, [&] { one = rows_.print(b); });
    return one;
  }
  matrix_sketch draw(const solve_options& options) override { // which looks at the whole matrix
    coo<double> a;
    all_do(task::gather, [&] { a = rows_.gather(); });
    return sketch(a, options);
  }
  void solve(solve_request& q, const vector_columns& b, vector_columns& x, solve_outcome& o) override {
    const partition how = q.partition == "metis" ? partition::metis : partition::rows;
    ranks_report on;
    q.met = true;
    all_do(task::solve, [&] { on = rows_.solve(as_cview(b.values), as_view(x.values), q.options, how); });
    o.partition = on.partition, o.cut = on.cut();
    o.columns = {std::move(on.report)}, o.parts = std::move(on.parts);
  }

private:
  template <class F> void all_do(task what, F f) {
    as_one(rows_.c, [&] {
      together(rows_.c, [] {}); // where the others hear what has failed here
      rows_.c.of_first(double(int(what)));
      f();
    });
  }
  rows_here rows_;
};

} // namespace

std::unique_ptr<system_to_solve> read_on_ranks(const solve_request& q, const matrix_input& input) {
  return std::make_unique<system_on_ranks>(*q.ranks_here, input, q.file);
}

void follow_the_first(communicator& c) {
  as_one(c, [&] {
    rows_here rows(c);
    double largest = 0;
    for (;;) {
      together(c, [] {});
      switch (task(int(c.of_first(0)))) {
      case task::load:
        rows.load(nullptr);
        break;
      case task::sums:
        rows.sums(largest);
        break;
      case task::product:
        rows.product();
        break;
      case task::print:
        rows.print({});
        break;
      case task::gather:
        rows.gather();
        break;
      case task::solve:
        rows.solve({}, {}, {}, partition::rows);
        return;
      }
    }
  });
}

} // namespace furrow::cli
