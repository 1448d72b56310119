// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/bytes.hpp"
#include "distributed/partition.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/coo.hpp>

#include <cstring>
#include <vector>

namespace furrow {

/// Entries on their way to the ranks that have their rows. A rank has them in chunks of some ten thousand, and what it
/// has gone through it gives away, so that the way takes little memory beside what comes. All ranks make one together.
///
/// visit(chunk, put): calls put(row, column, value), places of the whole matrix, for the entries of a chunk in their
/// order; twice for each chunk, from any thread. drop(chunk): is not asked for again.
template <class V, class Visit, class Drop> class dealing {
public:
  dealing(communicator& c, const std::vector<index_t>& begins, index_t chunks, Visit visit, Drop drop)
      : c_(c), begins_(begins), chunks_(chunks), ranks_(c.size()), visit_(visit), drop_(drop) {
    counts_ = host_array<index_t>(chunks * ranks_, 0);
    cpu::for_each_range(chunks, 1, [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) {
        index_t* const count = counts_.data() + k * ranks_;
        owner who(begins_);
        visit_(k, [&](std::int32_t i, std::int32_t, V) { ++count[who.of(i)]; });
      }
    });
  }

  /// What came for this rank's rows, from 0 on: by the ranks that sent it, of each in its order. Columns are those of
  /// the whole matrix.
  coo<V> deal(index_t columns) {
    const auto me = static_cast<std::size_t>(c_.rank());
    const std::vector<index_t> coming = exchange_counts(0, chunks_);
    next_.assign(static_cast<std::size_t>(ranks_), 0);
    index_t total = 0;
    for (std::size_t r = 0; r < next_.size(); ++r) next_[r] = total, total += coming[r];
    result_ = {{begins_[me + 1] - begins_[me], columns},
               host_array<std::int32_t>(total),
               host_array<std::int32_t>(total),
               host_array<V>(total)};
    index_t from = 0;
    while (c_.any(from < chunks_)) from = one_round(from);
    for (std::int32_t& i : result_.row) i -= static_cast<std::int32_t>(begins_[me]);
    return std::move(result_);
  }

private:
  static constexpr index_t entries_a_round = index_t(1) << 20;
  static constexpr index_t bytes_of_entry = index_t(sizeof(V)) + 8;

  /// Who has a row: mostly the one who had the last.
  struct owner {
    const std::vector<index_t>& begins;
    index_t rank = 0;
    explicit owner(const std::vector<index_t>& begins) : begins(begins) {}
    index_t of(std::int32_t i) {
      const auto r = static_cast<std::size_t>(rank);
      if (i < begins[r] || i >= begins[r + 1]) rank = owner_of(begins, i);
      return rank;
    }
  };

  /// A message: values, rows, columns.
  struct parcel {
    host_array<char> bytes;
    index_t count = 0;
    explicit parcel(index_t n) : bytes(n * bytes_of_entry), count(n) {}
    char* val(index_t k) { return bytes.data() + k * index_t(sizeof(V)); }
    char* row(index_t k) { return bytes.data() + count * index_t(sizeof(V)) + k * 4; }
    char* col(index_t k) { return row(count) + k * 4; }
  };

  /// Entries of chunks [first, last) of each rank for this one.
  std::vector<index_t> exchange_counts(index_t first, index_t last) {
    const auto ranks = static_cast<std::size_t>(ranks_), me = static_cast<std::size_t>(c_.rank());
    std::vector<index_t> mine(ranks, 0), all(ranks * ranks), coming(ranks);
    for (index_t k = first; k < last; ++k)
      for (std::size_t r = 0; r < ranks; ++r) mine[r] += counts_[k * ranks_ + index_t(r)];
    c_.gather_all(bytes_of(cview<index_t>(mine)), bytes_of(view<index_t>(all)));
    for (std::size_t r = 0; r < ranks; ++r) coming[r] = all[r * ranks + me];
    return coming;
  }

  /// Sends chunks from `first` on, as many as make a round, and takes what comes; returns the one behind them.
  index_t one_round(index_t first) {
    index_t last = first, entries = 0;
    for (; last < chunks_ && entries < entries_a_round; ++last)
      for (index_t r = 0; r < ranks_; ++r) entries += counts_[last * ranks_ + r];
    const std::vector<index_t> coming = exchange_counts(first, last);
    std::vector<parcel> sent = pack(first, last), come;
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for (int r = 0; r < int(ranks_); ++r) {
      auto& to = sent[static_cast<std::size_t>(r)];
      come.emplace_back(r == c_.rank() ? 0 : coming[static_cast<std::size_t>(r)]);
      if (r != c_.rank() && to.count > 0) out.push_back({r, bytes_of(cview<char>(to.bytes))});
      if (come.back().count > 0) in.push_back({r, bytes_of(view<char>(come.back().bytes))});
    }
    c_.start(out, in);
    c_.finish();
    for (int r = 0; r < int(ranks_); ++r) take(come[static_cast<std::size_t>(r)], r);
    next_[static_cast<std::size_t>(c_.rank())] += coming[static_cast<std::size_t>(c_.rank())];
    return last;
  }

  /// A parcel for each other rank; what stays here goes to its place.
  std::vector<parcel> pack(index_t first, index_t last) {
    std::vector<parcel> to;
    host_array<index_t> at((last - first) * ranks_);
    const index_t me = c_.rank(), own = next_[static_cast<std::size_t>(me)];
    for (index_t r = 0; r < ranks_; ++r) {
      index_t n = 0;
      for (index_t k = first; k < last; ++k) at[(k - first) * ranks_ + r] = n, n += counts_[k * ranks_ + r];
      to.emplace_back(r == me ? 0 : n);
    }
    cpu::for_each_range(last - first, 1, [&](index_t begin, index_t end) {
      for (index_t k = begin; k < end; ++k) {
        index_t* const place = at.data() + k * ranks_;
        owner who(begins_);
        visit_(first + k, [&](std::int32_t i, std::int32_t j, V v) {
          const index_t r = who.of(i), n = place[r]++;
          if (r == me) {
            result_.row[own + n] = i, result_.col[own + n] = j, result_.val[own + n] = v;
            return;
          }
          parcel& p = to[static_cast<std::size_t>(r)];
          std::memcpy(p.val(n), &v, sizeof v), std::memcpy(p.row(n), &i, 4), std::memcpy(p.col(n), &j, 4);
        });
        drop_(first + k);
      }
    });
    return to;
  }

  void take(parcel& p, int from) {
    if (p.count == 0) return;
    index_t& at = next_[static_cast<std::size_t>(from)];
    const auto n = static_cast<std::size_t>(p.count);
    std::memcpy(result_.val.data() + at, p.val(0), n * sizeof(V));
    std::memcpy(result_.row.data() + at, p.row(0), n * 4);
    std::memcpy(result_.col.data() + at, p.col(0), n * 4);
    at += p.count;
  }

  communicator& c_;
  const std::vector<index_t>& begins_;
  index_t chunks_, ranks_;
  Visit visit_;
  Drop drop_;
  host_array<index_t> counts_; ///< of each chunk, for each rank
  std::vector<index_t> next_;  ///< where what comes next from each rank goes
  coo<V> result_;
};

/// Triplets of rows of this rank, which begin at `first`, in chunks: what `dealing` visits. With places as `moved(i,
/// j)` says.
template <class V> struct chunks_of_rows {
  static constexpr index_t size = index_t(1) << 15;
  const coo<V>& a;
  index_t count() const { return (a.nnz() + size - 1) / size; }
  template <class Put> void visit(index_t k, Put put) const {
    for (index_t e = k * size, end = std::min(a.nnz(), e + size); e < end; ++e) put(a.row[e], a.col[e], a.val[e]);
  }
};

} // namespace furrow
