// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_inverse.hpp"

#include "preconditioners/elimination.hpp"
#include "preconditioners/stoppable_tasks.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace furrow::fsai_preconditioner {
namespace {

/// So few that threads end together: one of 128 places a row takes some 50 ms.
constexpr index_t block_rows = 64;

/// What a thread needs to work a row out.
class worker {
public:
  worker(row_view<double> a, const places_wanted& places) : a_(a), wanted_(places) {
    weight_.assign(static_cast<std::size_t>(a.shape.rows), 0);
    place_.assign(static_cast<std::size_t>(a.shape.rows), nowhere);
  }

  const std::vector<std::int32_t>& columns() const { return columns_; }
  const std::vector<double>& values() const { return values_; }

  /// Row i of G; returns whether it is more than a diagonal was wanted and could not be had.
  bool gave_up(index_t i) {
    const auto row = static_cast<std::int32_t>(i);
    if (wanted_.steps > 0 ? grow(row) : fits_pattern(row)) return false;
    columns_ = {row};
    values_ = {1};
    return true;
  }

private:
  static constexpr double least_gain = 1e-3; ///< of a step, as hypre's FSAI has it
  static constexpr std::int32_t nowhere = -1, met = -2;

  bool fits_pattern(std::int32_t i) {
    find_pattern(i);
    return solved();
  }

  /// The values at the places; false where those are not definite.
  bool solved() {
    gather();
    if (!factorise()) return false;
    solve();
    return true;
  }

  /// The places found step by step, and the values there.
  bool grow(std::int32_t i) {
    columns_ = {i};
    values_ = {1};
    double before = 1; // g A g' where g_i = 1, which is 1 / g_i^2 of the g whose g A g' is 1
    for (index_t step = 0; step < wanted_.steps && add_steepest(i); ++step) {
      if (!solved()) return false;
      const double now = 1 / (values_.back() * values_.back());
      if (!(before - now >= least_gain * before)) break;
      before = now;
    }
    return true;
  }

  /// Adds the places before i of the largest elements of A g, of equal ones the nearest to i; false where there are
  /// none.
  bool add_steepest(std::int32_t i) {
    for (const std::int32_t j : columns_) place_[j] = met;
    reached_.clear();
    for (std::size_t r = 0; r < columns_.size(); ++r)
      for (index_t e = a_.begin(columns_[r]); e < a_.end(columns_[r]) && a_.col[e] < i; ++e) {
        const std::int32_t j = a_.col[e];
        if (place_[j] == nowhere) {
          place_[j] = met;
          reached_.push_back(j);
        }
        weight_[j] += a_.val[e] * values_[r];
      }
    for (const std::int32_t j : columns_) place_[j] = nowhere, weight_[j] = 0;
    before_.clear();
    for (const std::int32_t j : reached_) {
      place_[j] = nowhere;
      if (const double slope = std::abs(std::exchange(weight_[j], 0)); slope > 0) before_.emplace_back(j, slope);
    }
    const auto taken = std::min<std::size_t>(before_.size(), static_cast<std::size_t>(wanted_.width));
    std::ranges::partial_sort(before_, before_.begin() + std::ptrdiff_t(taken), [](const auto& x, const auto& y) {
      return x.second != y.second ? x.second > y.second : x.first > y.first;
    });
    columns_.pop_back();
    for (std::size_t k = 0; k < taken; ++k) columns_.push_back(before_[k].first);
    std::ranges::sort(columns_);
    columns_.push_back(i);
    return taken > 0;
  }

  /// Row i of |A|^level and its places up to the diagonal.
  void find_pattern(std::int32_t i) {
    reached_ = {i};
    weight_[i] = 1;
    for (index_t step = 0; step < wanted_.level; ++step) {
      before_.clear();
      for (const std::int32_t k : reached_) before_.emplace_back(k, std::exchange(weight_[k], 0));
      reached_.clear();
      for (const auto& [k, w] : before_)
        for (index_t e = a_.begin(k); e < a_.end(k); ++e) {
          const std::int32_t j = a_.col[e];
          const double more = w * std::abs(a_.val[e]);
          if (more == 0) continue;
          if (weight_[j] == 0) reached_.push_back(j);
          weight_[j] += more;
        }
    }
    columns_.clear();
    for (const std::int32_t j : reached_)
      if (j < i) columns_.push_back(j);
    if (index_t(columns_.size()) >= most_places) {
      const auto heavier = [&](std::int32_t x, std::int32_t y) {
        return weight_[x] != weight_[y] ? weight_[x] > weight_[y] : x > y;
      };
      std::nth_element(columns_.begin(), columns_.begin() + (most_places - 1), columns_.end(), heavier);
      columns_.resize(most_places - 1);
    }
    std::ranges::sort(columns_);
    columns_.push_back(i);
    for (const std::int32_t j : reached_) weight_[j] = 0;
  }

  /// The lower triangle of A at the places, densely.
  void gather() {
    const auto m = static_cast<index_t>(columns_.size());
    dense_.assign(static_cast<std::size_t>(m * m), 0);
    for (index_t r = 0; r < m; ++r) place_[columns_[r]] = static_cast<std::int32_t>(r);
    for (index_t r = 0; r < m; ++r)
      for (index_t e = a_.begin(columns_[r]); e < a_.end(columns_[r]) && a_.col[e] <= columns_[r]; ++e)
        if (const std::int32_t c = place_[a_.col[e]]; c >= 0) dense_[r * m + c] = a_.val[e];
    for (const std::int32_t j : columns_) place_[j] = nowhere;
  }

  bool factorise() {
    const auto m = static_cast<index_t>(columns_.size());
    const double least = double(m) * 1e-15;
    for (index_t r = 0; r < m; ++r) {
      double* const row = &dense_[r * m];
      for (index_t c = 0; c <= r; ++c) {
        const double* const other = &dense_[c * m];
        double sum = row[c];
        for (index_t k = 0; k < c; ++k) sum -= row[k] * other[k];
        if (c < r) row[c] = sum / other[c];
        else if (!(sum > least)) return false;
        else row[r] = std::sqrt(sum);
      }
    }
    return true;
  }

  /// The values: L' g = e_m.
  void solve() {
    const auto m = static_cast<index_t>(columns_.size());
    values_.assign(static_cast<std::size_t>(m), 0);
    values_[m - 1] = 1;
    for (index_t r = m - 1; r >= 0; --r) {
      const double* const row = &dense_[r * m];
      const double g = values_[r] /= row[r];
      for (index_t k = 0; k < r; ++k) values_[k] -= row[k] * g;
    }
  }

  row_view<double> a_;
  places_wanted wanted_;
  std::vector<double> weight_, dense_, values_;
  std::vector<std::int32_t> place_, reached_, columns_;
  std::vector<std::pair<std::int32_t, double>> before_;
};

struct block {
  std::vector<index_t> lengths;
  std::vector<std::int32_t> col;
  std::vector<double> val;
  index_t diagonal_rows = 0;
};

block block_from(worker& w, index_t first, index_t last) {
  block b;
  for (index_t i = first; i < last; ++i) {
    stops_set_up::at_row(i);
    b.diagonal_rows += w.gave_up(i);
    b.lengths.push_back(index_t(w.columns().size()));
    b.col.insert(b.col.end(), w.columns().begin(), w.columns().end());
    b.val.insert(b.val.end(), w.values().begin(), w.values().end());
  }
  return b;
}

} // namespace

inverse_factor rows_of_inverse(row_view<double> a, const places_wanted& places) {
  const index_t n = a.shape.rows, blocks = (n + block_rows - 1) / block_rows;
  std::vector<block> parts(static_cast<std::size_t>(blocks));
  for_each_stoppable(blocks, [&] {
    return [&parts, n, w = worker(a, places)](index_t b) mutable {
      parts[b] = block_from(w, b * block_rows, std::min(n, (b + 1) * block_rows));
    };
  });
  index_t nnz = 0;
  for (const block& b : parts) nnz += index_t(b.col.size());
  check_fill(12 * double(nnz), "fsai");
  inverse_factor f{{a.shape, host_array<index_t>(n + 1), host_array<std::int32_t>(nnz), host_array<double>(nnz)}};
  index_t row = 0, at = 0;
  f.g.row_ptr[0] = 0;
  for (block& b : parts) {
    for (const index_t length : b.lengths) f.g.row_ptr[row + 1] = f.g.row_ptr[row] + length, ++row;
    std::ranges::copy(b.col, f.g.col.data() + at);
    std::ranges::copy(b.val, f.g.val.data() + at);
    at += index_t(b.col.size());
    f.diagonal_rows += b.diagonal_rows;
    b = {};
  }
  return f;
}

} // namespace furrow::fsai_preconditioner
