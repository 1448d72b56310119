// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/row_kernel.hpp"
#include "backends/stored_values.hpp"

#include <furrow/storage.hpp>

#include <string>
#include <utility>
#include <vector>

/// The kernel `merge` on the CPU: as the other kernels of csr, but threads share rows that are long.
namespace furrow::csr_rows {

/// Work of one task: whole rows, or entries of one long row.
struct share {
  index_t row, rows;          ///< rows == 0: a part of `row`
  index_t begin = 0, end = 0; ///< its entries
};

/// Tasks [first, last) are the parts of a long row.
struct long_row {
  index_t row, first, last;
};

struct split_plan {
  std::vector<share> tasks;
  std::vector<long_row> rows;
};

/// Rows of more entries than this are shared.
inline constexpr index_t longest_whole = 16384;

/// Cuts rows into shares of nearly equal work, long rows into parts of `part` entries at most. Depends on the matrix
/// alone.
template <class I> split_plan split(cview<I> row_ptr, index_t longest = longest_whole, index_t part = 8192) {
  split_plan plan;
  const index_t rows = row_ptr.size - 1;
  for (index_t first = 0; first < rows;) {
    index_t last = first;
    while (last < rows && row_ptr[last + 1] - row_ptr[last] <= longest) ++last;
    const auto pieces = cut_rows(last - first, [&](index_t r) { return index_t(row_ptr[first + r] - row_ptr[first]); });
    for (index_t k = 0; k < pieces.count(); ++k)
      plan.tasks.push_back({first + pieces.begin[k], pieces.begin[k + 1] - pieces.begin[k]});
    if (last < rows) {
      const index_t begin = row_ptr[last], length = row_ptr[last + 1] - begin, parts = (length + part - 1) / part;
      const auto before = static_cast<index_t>(plan.tasks.size());
      plan.rows.push_back({last, before, before + parts});
      for (index_t k = 0; k < parts; ++k)
        plan.tasks.push_back(
            {last, 0, begin + cpu::part_begin(length, parts, k), begin + cpu::part_begin(length, parts, k + 1)});
    }
    first = last + 1;
  }
  return plan;
}

/// Parts of a long row leave their sums; when all tasks are done the caller adds them in the order of the parts.
template <class V, class I, class Rows> class split_operator final : public any_operator<V>, public stored_values<V> {
public:
  explicit split_operator(csr<V, I, host_array> matrix)
      : matrix_(std::move(matrix)), plan_(split(as_cview(matrix_.row_ptr))) {}

  shape2 shape() const override { return matrix_.shape; }
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    const auto a = view_of(matrix_);
    V* const part_sums = cpu::scratch<V, share>(tasks()); // one a task, of which those of parts are used
    each_task([&](index_t k, const share& s) {
      if (s.rows > 0) piece_on_cpu<Rows>(a, s.row, s.row + s.rows, alpha, x, beta, y);
      else part_sums[k] = alpha == V(0) ? V(0) : part_sum(a, s, x);
    });
    for (const long_row& r : plan_.rows) store(alpha, sum_of(r, part_sums), beta, y[r.row]);
  }
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override { do_apply_with(x, y, {{}, {x, xy}}); }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    const auto a = view_of(matrix_);
    V* const part_sums = cpu::scratch<V, share>(tasks());
    // Behind the tasks the long rows are a piece of their own.
    sum_pieces(
        e, tasks() + 1,
        [&](auto&& f) {
          each_task([&](index_t k, const share&) { f(k); });
          f(tasks());
        },
        [&](index_t k, double* sums) {
          if (k == tasks()) return finish_long_rows(part_sums, y, e, sums);
          const share& s = plan_.tasks[k];
          if (s.rows > 0) piece_with_on_cpu<Rows>(a, s.row, s.row + s.rows, x, y, e, sums);
          else part_sums[k] = part_sum(a, s, x);
        });
  }
  double stored_bytes() const override { return byte_count(matrix_); }
  double bytes_per_apply() const override {
    return stored_bytes() + double(sizeof(V)) * double(matrix_.shape.rows + matrix_.shape.cols);
  }
  std::string kernel() const override { return "merge"; }
  std::optional<coo<V>> to_triplets() const override { return to_coo(matrix_); }
  std::vector<view<V>> values() override { return value_arrays(matrix_); }
  std::unique_ptr<any_operator<V>> copy() const override { return std::make_unique<split_operator>(*this); }

private:
  index_t tasks() const { return static_cast<index_t>(plan_.tasks.size()); }

  template <class F> void each_task(F&& f) const {
    const index_t count = tasks();
    const auto run = [&](index_t k) { f(k, plan_.tasks[k]); };
    if (count >= 4) return cpu::for_each_task(count, run);
    for (index_t k = 0; k < count; ++k) run(k);
  }

  /// The part as a matrix of one row.
  static V part_sum(const csr<V, I, cview>& a, const share& s, cview<V> x) {
    const I ends[2] = {static_cast<I>(s.begin), static_cast<I>(s.end)};
    V sum{};
    Rows::sums(csr<V, I, cview>{{1, a.shape.cols}, cview<I>(ends, 2), a.col, a.val}, 0, 1, x, &sum);
    return sum;
  }

  void finish_long_rows(const V* part_sums, view<V> y, const epilogue<V>& e, double* sums) const {
    for (const long_row& r : plan_.rows) {
      const V sum = sum_of(r, part_sums);
      y[r.row] = e.b.data ? e.b[r.row] - sum : sum;
      add_sums_on_cpu(e, r.row, r.row + 1, y, sums);
    }
  }

  static V sum_of(const long_row& r, const V* part_sums) {
    V sum{};
    for (index_t k = r.first; k < r.last; ++k) sum += part_sums[k];
    return sum;
  }

  csr<V, I, host_array> matrix_;
  split_plan plan_;
};

} // namespace furrow::csr_rows
