// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/halo.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace furrow::amg {

/// How a rank numbers columns that all ranks have: its own ones from 0 on, and behind them those of others that occur,
/// ascending. Beside them a bit for each column between the first of these and the last: a name is found in a few ns,
/// and the columns of some 100,000 rows of a border are many.
class rank_columns {
public:
  rank_columns() = default;
  /// first: of all columns, its own first one. Without those of others.
  rank_columns(index_t first, index_t own) : first_(first), own_(own) {}

  index_t first() const { return first_; }
  index_t own() const { return own_; }
  const host_array<std::int32_t>& others() const { return others_; }
  index_t count() const { return own_ + others_.size(); }
  std::int32_t global_of(std::int32_t local) const {
    return local < own_ ? static_cast<std::int32_t>(first_) + local : others_[local - own_];
  }
  /// Of one that it has.
  std::int32_t local_of(std::int32_t global) const {
    const index_t local = global - first_, at = global - low_;
    if (local >= 0 && local < own_) return static_cast<std::int32_t>(local);
    const auto word = static_cast<std::size_t>(at / 64);
    return static_cast<std::int32_t>(own_) + before_[word] +
           std::popcount(marks_[word] & ((std::uint64_t(1) << at % 64) - 1));
  }
  /// These, and those.
  rank_columns with(cview<std::int32_t> globals) const;
  /// The numbers that those of others have there.
  host_array<std::int32_t> others_in(const rank_columns& wider) const;

private:
  index_t first_ = 0, own_ = 0, low_ = 0;
  host_array<std::int32_t> others_;
  std::vector<std::uint64_t> marks_; ///< of columns of others, from `low_` on
  std::vector<std::int32_t> before_; ///< marks before each word
};

/// Rows of a sparse matrix on their way between ranks, one after the other.
struct loose_rows {
  host_array<std::int32_t> length, col;
  host_array<double> val;
};

/// What goes between ranks for a plan: to those who need elements, or from those who have them what is worked out for
/// them back to their owners.
struct way_of_rows {
  const std::vector<halo_plan::share>&sends, &receives;
  index_t come; ///< rows
  static way_of_rows there(const halo_plan& p) { return {p.sends, p.receives, p.columns.size()}; }
  static way_of_rows back(const halo_plan& p) { return {p.receives, p.sends, p.rows_sent.size()}; }
};

/// An element, or a row, for each that comes; `mine` are those that go, by rank. All ranks call it.
template <class T> host_array<T> exchange_elements(communicator& c, const way_of_rows& way, cview<T> mine);
loose_rows exchange_rows(communicator& c, const way_of_rows& way, const loose_rows& mine);

} // namespace furrow::amg
