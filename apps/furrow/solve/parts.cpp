// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "random_vector.hpp"
#include "system.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "distributed/together.hpp"
#include "tune/row_error.hpp"

#include <furrow/load_on_ranks.hpp>
#include <furrow/report.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::cli {
namespace {

/// What the first rank asks all of them to do next.
enum class task : int {
  load,
  take,
  read,
  sums,
  product,
  begin,
  read_guess,
  take_guess,
  resume,
  norm,
  print,
  gather,
  solve,
  distance,
  keep,
  write,
  end
};

/// A rank's rows and its parts of b and x, and what is done with them by all ranks together. What is given is the first
/// one's.
class rows_here {
public:
  explicit rows_here(communicator& c) : c(c) {}
  communicator& c;
  part_of_problem p;
  host_array<double> b, x;

  void load(const matrix_input* input) { p = input ? input->load_on_ranks(c) : furrow::load_on_ranks(c, ""); }

  void take(cview<double> whole) {
    together(c, [&] { b = host_array<double>(p.a.shape.rows); });
    scatter_from_first(c, whole, as_view(b));
  }
  void read_b(const source* from) { b = read_vector_on_ranks(c, from, p.a.shape.rows); }
  void read_x(const source* from) { x = read_vector_on_ranks(c, from, unknowns()); }
  void take_x(cview<double> whole) {
    begin();
    scatter_from_first(c, whole, as_view(x));
  }
  /// b is A * ones; whether that is zero for all.
  bool sums() {
    bool zero = false;
    together(c, [&] { b = row_sums(p.a), zero = vanishes(b, p.a); });
    return !c.any(!zero);
  }
  /// b is A times a random vector.
  void product() {
    together(c, [&] {
      const auto exact = reference_product(p.a, as_cview(random_vector<double>(p.a.shape.cols))).value;
      b = host_array<double>(exact.size());
      std::ranges::copy(exact, b.begin());
    });
  }
  void begin() {
    together(c, [&] { x = host_array<double>(unknowns(), 0.0); });
  }
  checkpoint resume(const std::string& file, const system_fingerprint& print) {
    checkpoint saved = read_checkpoint_on_ranks(c, file, print, unknowns());
    x = std::exchange(saved.x, {});
    return saved;
  }
  double norm() const {
    double squares = 0;
    for (const double v : b) squares += v * v;
    return std::sqrt(c.sum(squares));
  }
  system_fingerprint print() { return fingerprint(c, p.a, as_cview(b)); }
  coo<double> gather() { return gather_on_first(c, p.a); }
  ranks_report solve(const solve_options& o, partition how) {
    return solve_rows_in_parts(c, std::move(p.a), as_cview(b), as_view(x), o, how);
  }
  double distance() const { return c.max(distance_from_ones(as_cview(x))); }
  std::string keep(checkpoint_keeper* keeper, const solve_report& report) {
    return checkpoint_keeper::finish_on_ranks(c, keeper, report, as_cview(x));
  }
  std::string write(const std::string& file) { return write_vector_on_ranks(c, as_cview(x), file); }

private:
  /// Elements of x: one a row; where there are not as many rows as columns all of them are the first one's.
  index_t unknowns() const {
    if (p.begins.back() == p.a.shape.cols) return p.a.shape.rows;
    return c.rank() == 0 ? p.a.shape.cols : 0;
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

  void take_right_hand_side(const std::string& file, std::string& rhs) override {
    if (!file.empty()) {
      rhs = file;
      const source from(file);
      return all_do(task::read, [&] { rows_.read_b(&from); });
    }
    if (auto given = given_right_hand_side(file, rows_.p.b, shape.rows, name, rhs)) {
      rows_.p.b = {};
      return all_do(task::take, [&] { rows_.take(as_cview(given->values)); });
    }
    rhs = "ones";
    bool zero = false;
    all_do(task::sums, [&] { zero = rows_.sums(); });
    if (nnz == 0 || !zero) return;
    rhs = "random";
    remark(name, ones_in_null_space);
    all_do(task::product, [&] { rows_.product(); });
  }
  void begin_with(const std::string& file) override {
    if (file.empty()) return all_do(task::begin, [&] { rows_.begin(); });
    if (shape.rows != shape.cols) { // it has a number for each column, and the others have no part of it
      const auto whole = read_vector_for<double>(file, "--x0", shape.cols, "column");
      return all_do(task::take_guess, [&] { rows_.take_x(as_cview(whole)); });
    }
    const source from(file);
    all_do(task::read_guess, [&] { rows_.read_x(&from); });
  }
  checkpoint resume(const std::string& file, const system_fingerprint& print) override {
    checkpoint saved;
    all_do(task::resume, [&] { saved = rows_.resume(file, print); });
    return saved;
  }
  double norm_of_right_hand_side(index_t) override {
    double norm = 0;
    all_do(task::norm, [&] { norm = rows_.norm(); });
    return norm;
  }
  system_fingerprint print() override {
    system_fingerprint one;
    all_do(task::print, [&] { one = rows_.print(); });
    return one;
  }
  matrix_sketch draw(const solve_options& options) override { // which looks at the whole matrix
    coo<double> a;
    all_do(task::gather, [&] { a = rows_.gather(); });
    return sketch(a, options);
  }
  void solve(solve_request& q, solve_outcome& o) override {
    const partition how = q.partition == "metis" ? partition::metis : partition::rows;
    ranks_report on;
    all_do(task::solve, [&] { on = rows_.solve(q.options, how); });
    o.partition = on.partition, o.cut = on.cut(), o.way = std::move(on.way);
    o.gathered = std::move(on.gathered), o.rungs_together = on.rungs_together;
    if (!o.gathered.empty() && on.parts.size() > 1)
      remark(q.file, ": the first rank gathered all rows and solved alone: " + o.gathered);
    o.columns = {std::move(on.report)}, o.parts = std::move(on.parts);
  }
  double distance_from_ones() override {
    double most = 0;
    all_do(task::distance, [&] { most = rows_.distance(); });
    return most;
  }
  std::string keep_last(checkpoint_keeper& keeper, const solve_report& report) override {
    std::string because;
    all_do(task::keep, [&] { because = rows_.keep(&keeper, report); });
    return because;
  }
  void write_x(const std::string& file) override {
    std::string because;
    all_do(task::write, [&] { because = rows_.write(file); });
    if (!because.empty()) remark(file, ": the first rank writes for others: " + because);
  }
  void end(solve_request& q) override {
    q.met = true;
    all_do(task::end, [] {});
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
    for (;;) {
      together(c, [] {});
      switch (task(int(c.of_first(0)))) {
      case task::load:
        rows.load(nullptr);
        break;
      case task::take:
        rows.take({});
        break;
      case task::read:
        rows.read_b(nullptr);
        break;
      case task::read_guess:
        rows.read_x(nullptr);
        break;
      case task::take_guess:
        rows.take_x({});
        break;
      case task::resume:
        rows.resume({}, {});
        break;
      case task::sums:
        rows.sums();
        break;
      case task::product:
        rows.product();
        break;
      case task::begin:
        rows.begin();
        break;
      case task::norm:
        rows.norm();
        break;
      case task::print:
        rows.print();
        break;
      case task::gather:
        rows.gather();
        break;
      case task::solve:
        rows.solve({}, partition::rows);
        break;
      case task::distance:
        rows.distance();
        break;
      case task::keep:
        rows.keep(nullptr, {});
        break;
      case task::write:
        try {
          rows.write({});
        } catch (const error_of_all&) { // the first one says it, and reports
        }
        break;
      case task::end:
        return;
      }
    }
  });
}

} // namespace furrow::cli
