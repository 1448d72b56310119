// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bytes.hpp"

#include <furrow/array.hpp>

#include <vector>

namespace furrow {

/// Which elements of a vector go from whom to whom before a product: those in whose columns a rank has entries, and
/// whose rows another one has.
struct halo_plan {
  /// [first, first + count) of what goes there, or comes from there.
  struct share {
    int rank;
    index_t first, count;
  };
  std::vector<share> sends, receives; ///< by rank
  host_array<std::int32_t> rows_sent; ///< own rows, from 0 on: what `sends` are shares of
  host_array<std::int32_t> columns;   ///< of the whole matrix, ascending: what `receives` are shares of
};

/// `begins`: as of `cut_by_entries`. `columns`: of other ranks, ascending, each once. All ranks call it.
halo_plan plan_halo(communicator& c, const std::vector<index_t>& begins, host_array<std::int32_t> columns);

/// Brings what a rank needs of a vector's other parts: `start` packs and sends, `finish` waits for what comes.
template <class V> class halo {
public:
  halo(communicator& c, const halo_plan& plan)
      : c_(c), plan_(plan), packed_(plan.rows_sent.size()), there_(plan.columns.size()) {}

  void start(cview<V> x) {
    for (index_t k = 0; k < packed_.size(); ++k) packed_[k] = x[plan_.rows_sent[k]];
    exchange(plan_.sends, as_cview(packed_), plan_.receives, as_view(there_));
  }
  /// In the order of the plan's columns, until the next `start`.
  cview<V> finish() {
    c_.finish();
    return as_cview(there_);
  }
  /// The way back: what was gathered for rows of others is added to their elements of x, by rank.
  void add_back(cview<V> gathered, view<V> x) {
    exchange(plan_.receives, gathered, plan_.sends, as_view(packed_));
    c_.finish();
    for (index_t k = 0; k < packed_.size(); ++k) x[plan_.rows_sent[k]] += packed_[k];
  }

private:
  void exchange(const std::vector<halo_plan::share>& sends, cview<V> from,
                const std::vector<halo_plan::share>& receives, view<V> to) {
    out_.clear(), in_.clear();
    for (const auto& s : sends) out_.push_back({s.rank, bytes_of(cview<V>(from.data + s.first, s.count))});
    for (const auto& r : receives) in_.push_back({r.rank, bytes_of(view<V>(to.data + r.first, r.count))});
    c_.start(out_, in_);
  }

  communicator& c_;
  const halo_plan& plan_;
  host_array<V> packed_, there_;
  std::vector<outgoing> out_;
  std::vector<incoming> in_;
};

} // namespace furrow
