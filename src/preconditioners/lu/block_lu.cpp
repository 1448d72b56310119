// SPDX-License-Identifier: BSD-3-Clause
#include "block_lu.hpp"
#include "matched.hpp"
#include "plain_lu.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace furrow::lu {
namespace {

double cube(index_t n) { return double(n) * double(n) * double(n); }

/// What the blocks so far have taken of the operations.
class shared_operations {
public:
  shared_operations(const most_operations& all, double entries) : all_(all), entries_(entries) {}
  void take(double operations) { taken_ += std::min(operations / all_.most, 1.0); }
  most_operations left_for(index_t entries) const {
    const double part = std::max(1 - taken_, double(entries) / entries_);
    return {part * all_.most, part * all_.by_panels, part * all_.to_the_end};
  }

private:
  most_operations all_;
  double entries_, taken_ = 0;
};

class block_factors final : public factors {
public:
  using maker = std::function<std::unique_ptr<factors>(const columns&, const most_operations&)>;

  block_factors(const columns& a, block_form f, const most_operations& operations, const maker& make)
      : f_(std::move(f)), places_(at(f_.blocks())), above_{a.n, host_array<std::int32_t>(a.n + 1), {}, {}, false},
        own_(at(f_.blocks())) {
    lay_out(operations.most);
    sort_entries(a);
    factor_small();
    factor_large(a, operations, make);
    blocks = f_.blocks(), largest = f_.largest();
  }

  void solve(double* x, bool transposed) const override { solve_each(x, nullptr, transposed); }
  void solve_two(double* x, double* y, bool transposed) const override { solve_each(x, y, transposed); }
  double bytes() const override { return size_.bytes; }
  factor_size size() const override { return size_; }
  std::string_view kind() const override { return kind_; }

private:
  index_t first_of(index_t b) const { return f_.begin[at(b)]; }
  bool is_small(index_t b) const { return f_.size_of(b) <= rows_of_small_blocks; }
  plain_lu laid_out(index_t b) const {
    const index_t n = f_.size_of(b);
    return {n, n - 1, n - 1, 0, n + 1, true, const_cast<double*>(small_.data()) + places_[at(b)]};
  }

  /// Where the small blocks begin, which take `most` operations together at most.
  void lay_out(double most) {
    index_t all = 0;
    double takes = 0;
    for (index_t b = 0; b < f_.blocks(); ++b) {
      places_[at(b)] = all;
      if (!is_small(b)) continue;
      all += f_.size_of(b) * f_.size_of(b);
      takes += 2.0 / 3 * cube(f_.size_of(b));
    }
    if (takes > most) refuse_operations(most);
    work = takes;
    const double bytes = 8.0 * double(all);
    if (host_room there; !there.takes(bytes))
      throw_sentence(fault::memory,
                     "the factors of the diagonal blocks take {:.3g} GB, of which {:.3g} GB can be had: "
                     "take an iterative solver",
                     bytes * 1e-9, there.bytes() * 1e-9);
    small_ = host_array<double>(all, 0.0);
    pivots_ = host_array<int>(above_.n);
  }

  /// Entries of small blocks, and those above the blocks, whose rows are places from now on.
  void sort_entries(const columns& a) {
    place_.resize(at(a.n));
    for (index_t p = 0; p < a.n; ++p) place_[at(f_.row_at[at(p)])] = static_cast<std::int32_t>(p);
    each_column([&](index_t b, index_t p, std::int32_t j) {
      std::int32_t above = 0;
      for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) above += place_[at(a.row[k])] < first_of(b);
      above_.begin[p + 1] = above;
    });
    above_.begin[0] = 0;
    std::partial_sum(above_.begin.begin(), above_.begin.end(), above_.begin.begin());
    above_.row = host_array<std::int32_t>(above_.begin[a.n]);
    above_.val = host_array<double>(above_.begin[a.n]);
    each_column([&](index_t b, index_t p, std::int32_t j) {
      const index_t first = first_of(b), n = f_.size_of(b), column = places_[at(b)] + (p - first) * n;
      std::int32_t to = above_.begin[p];
      for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
        const std::int32_t i = place_[at(a.row[k])];
        if (i < first) above_.row[to] = i, above_.val[to++] = a.val[k];
        else if (n <= rows_of_small_blocks) small_[column + i - first] = a.val[k];
      }
    });
  }
  template <class Tell> void each_column(Tell tell) const {
    for (index_t b = 0; b < f_.blocks(); ++b) {
      stops_set_up::at_row(b);
      for (index_t p = first_of(b); p < first_of(b + 1); ++p) tell(b, p, f_.column_at[at(p)]);
    }
  }

  void factor_small() {
    size_.entries = double(small_.size()) + double(above_.nnz());
    size_.bytes = 8 * double(small_.size()) + 12 * double(above_.nnz()) + 20 * double(above_.n);
    size_.expected = size_.entries, size_.expected_bytes = size_.bytes;
    for (index_t b = 0; b < f_.blocks(); ++b) {
      stops_set_up::at_row(b);
      if (!is_small(b)) continue;
      if (const int without = factor_plain(laid_out(b), pivots_.data() + first_of(b)); without > 0)
        refuse_singular(f_.column_at[at(first_of(b) + without - 1)]);
    }
  }

  void factor_large(const columns& a, const most_operations& most, const maker& make) {
    std::vector<std::int32_t> by_size;
    for (std::int32_t b = 0; b < f_.blocks(); ++b)
      if (!is_small(b)) by_size.push_back(b);
    std::ranges::stable_sort(by_size, std::ranges::greater(), [&](std::int32_t b) { return f_.size_of(b); });
    shared_operations left(most, double(a.nnz()));
    left.take(work);
    for (const std::int32_t b : by_size) {
      const columns block = block_of(a, b);
      try {
        own_[at(b)] = make(block, left.left_for(block.nnz()));
      } catch (const no_pivot& e) { // counted in the block
        refuse_singular(f_.column_at[at(first_of(b) + e.column)]);
      }
      left.take(own_[at(b)]->work);
      count_in(*own_[at(b)]);
      if (b == by_size.front()) kind_ = own_[at(b)]->kind();
    }
  }
  columns block_of(const columns& a, index_t b) const {
    const index_t first = first_of(b), last = first_of(b + 1);
    std::vector<std::pair<std::int32_t, double>> column;
    std::vector<std::int32_t> rows;
    std::vector<double> values;
    columns block{last - first, host_array<std::int32_t>(last - first + 1), {}, {}, false};
    block.begin[0] = 0;
    for (index_t p = first; p < last; ++p) {
      const std::int32_t j = f_.column_at[at(p)];
      column.clear();
      for (std::int32_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
        if (const index_t i = place_[at(a.row[k])] - first; i >= 0)
          column.emplace_back(static_cast<std::int32_t>(i), a.val[k]);
      if (!std::ranges::is_sorted(column, {}, &std::pair<std::int32_t, double>::first)) std::ranges::sort(column);
      for (const auto& [i, v] : column) rows.push_back(i), values.push_back(v);
      block.begin[p - first + 1] = static_cast<std::int32_t>(rows.size());
    }
    block.row = host_array<std::int32_t>(index_t(rows.size()));
    block.val = host_array<double>(index_t(rows.size()));
    std::ranges::copy(rows, block.row.begin());
    std::ranges::copy(values, block.val.begin());
    block.symmetric_pattern = has_whole_diagonal(block) && is_mirrored(block);
    return block;
  }
  static bool has_whole_diagonal(const columns& a) {
    for (std::int32_t j = 0; j < a.n; ++j)
      if (!std::binary_search(a.row.data() + a.begin[j], a.row.data() + a.begin[j + 1], j)) return false;
    return true;
  }
  void count_in(const factors& own) {
    const factor_size s = own.size();
    size_.entries += s.entries, size_.bytes += s.bytes;
    size_.expected += s.expected, size_.expected_bytes += s.expected_bytes;
    size_.is_bound = size_.is_bound || s.is_bound;
    work += own.work;
    dissected = dissected || own.dissected;
    error = std::max(error, own.error);
    raised += own.raised;
    if (remark.empty()) remark = own.remark;
  }

  /// x <- A^-1 x, from the last block on, or A'^-1 x, from the first one; y likewise where there is one.
  void solve_each(double* x, double* y, bool transposed) const {
    const index_t n = above_.n;
    const auto &from = transposed ? f_.column_at : f_.row_at, &to = transposed ? f_.row_at : f_.column_at;
    std::vector<double> by_places(at(y ? 2 * n : n));
    double *const one = by_places.data(), *const other = y ? one + n : nullptr;
    for (index_t p = 0; p < n; ++p) one[p] = x[from[at(p)]];
    for (index_t p = 0; y && p < n; ++p) other[p] = y[from[at(p)]];
    for (index_t k = 0; k < f_.blocks(); ++k) {
      const index_t b = transposed ? k : f_.blocks() - 1 - k;
      if (transposed) subtract_above<true>(b, one, other);
      solve_block(b, one, other, transposed);
      if (!transposed) subtract_above<false>(b, one, other);
    }
    for (index_t p = 0; p < n; ++p) x[to[at(p)]] = one[p];
    for (index_t p = 0; y && p < n; ++p) y[to[at(p)]] = other[p];
  }
  void solve_block(index_t b, double* x, double* y, bool transposed) const {
    const index_t first = first_of(b);
    double *const one = x + first, *const other = y ? y + first : nullptr;
    if (own_[at(b)]) return y ? own_[at(b)]->solve_two(one, other, transposed) : own_[at(b)]->solve(one, transposed);
    if (f_.size_of(b) == 1) {
      const double pivot = small_[places_[at(b)]];
      *one /= pivot;
      if (y) *other /= pivot;
    } else if (y) {
      solve_plain(laid_out(b), pivots_.data() + first, one, other, transposed);
    } else {
      solve_plain(laid_out(b), pivots_.data() + first, one, transposed);
    }
  }
  template <bool Transposed> void subtract_above(index_t b, double* x, double* y) const {
    for (index_t p = first_of(b); p < first_of(b + 1); ++p)
      for (std::int32_t k = above_.begin[p]; k < above_.begin[p + 1]; ++k) {
        const index_t i = above_.row[k], to = Transposed ? p : i, from = Transposed ? i : p;
        x[to] -= above_.val[k] * x[from];
        if (y) y[to] -= above_.val[k] * y[from];
      }
  }

  block_form f_;
  std::vector<index_t> places_; ///< of small blocks
  columns above_;               ///< by places
  host_array<double> small_;
  host_array<int> pivots_;
  std::vector<std::unique_ptr<factors>> own_; ///< of the others
  std::vector<std::int32_t> place_;           ///< of a row
  factor_size size_;
  std::string_view kind_ = "sparse";
};

} // namespace

std::unique_ptr<factors> factor_blocks(
    const columns& a, block_form f, const most_operations& operations,
    const std::function<std::unique_ptr<factors>(const columns& block, const most_operations& operations)>& make) {
  return std::make_unique<block_factors>(a, std::move(f), operations, make);
}

} // namespace furrow::lu
