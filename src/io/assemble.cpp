// SPDX-License-Identifier: BSD-3-Clause
#include "assemble_parts.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace furrow::io {
namespace {

/// Calls visit(row, col, k) for the entries that belong to rows [first, last), in the order of the file.
template <bool Mirrored, class Visit> void visit_rows(const entries& e, index_t first, index_t last, Visit visit) {
  for (const block& b : e.blocks) {
    if (b.highest < first || b.lowest >= last) continue;
    const index_t end = b.first + b.count;
    if (!Mirrored && b.lowest >= first && b.highest < last) {
      for (index_t k = b.first; k < end; ++k) visit(e.row[k], k, false);
      continue;
    }
    for (index_t k = b.first; k < end; ++k) {
      const std::int32_t i = e.row[k];
      if (i >= first && i < last) visit(i, k, false);
      if constexpr (Mirrored) {
        const std::int32_t j = e.col[k];
        if (j != i && j >= first && j < last) visit(j, k, true);
      }
    }
  }
}

/// Offsets of the rows and the order of the entries by rows, stable: a counting sort. The threads own rows and look at
/// the blocks that have some of them; nothing is shared, so that the result does not depend on their number.
template <class O, bool Mirrored> class row_sort {
public:
  explicit row_sort(entries& e) : e_(e), rows_(e.head.shape.rows), start_(rows_ + 1) {
    const index_t parts = std::max<index_t>(1, std::min<index_t>(cpu::thread_count(), rows_ / 64));
    cpu::for_each_task(parts, [&](index_t p) {
      const index_t first = cpu::part_begin(rows_, parts, p), last = cpu::part_begin(rows_, parts, p + 1);
      std::fill(start_.data() + first + 1, start_.data() + last + 1, O(0));
      O* const count = start_.data() + 1;
      visit_rows<Mirrored>(e_, first, last, [&](std::int32_t i, index_t, bool) { ++count[i]; });
    });
    start_[0] = 0;
    std::inclusive_scan(start_.begin(), start_.end(), start_.begin());
    bounds_ = balanced_rows(as_cview(start_), parts);
    // From here on start_[i + 1] is where the next entry of row i goes.
    std::copy_backward(start_.begin(), start_.end() - 1, start_.end());
  }

  /// to[place of entry k] = value(k, mirrored). Afterwards start_ holds the offsets of the rows.
  template <class T, class Value> void place(host_array<T>& to, Value value) {
    O* const at = start_.data() + 1;
    T* const out = to.data();
    for_each_part([&](index_t first, index_t last) {
      visit_rows<Mirrored>(e_, first, last, [&](std::int32_t i, index_t k, bool m) { out[at[i]++] = value(k, m); });
    });
  }
  /// Two arrays at once.
  template <class Visit> void place_all(Visit put) {
    O* const at = start_.data() + 1;
    for_each_part([&](index_t first, index_t last) {
      visit_rows<Mirrored>(e_, first, last,
                           [&](std::int32_t i, index_t k, bool m) { put(static_cast<index_t>(at[i]++), k, m); });
    });
  }
  void rewind() { std::copy_backward(start_.begin(), start_.end() - 1, start_.end()), start_[0] = 0; }

  template <class Body> void for_each_part(Body body) const {
    cpu::for_each_task(static_cast<index_t>(bounds_.size()) - 1, [&](index_t p) {
      body(bounds_[static_cast<std::size_t>(p)], bounds_[static_cast<std::size_t>(p) + 1]);
    });
  }
  host_array<O>& start() { return start_; }
  const std::vector<index_t>& bounds() const { return bounds_; }

private:
  entries& e_;
  index_t rows_;
  host_array<O> start_;
  std::vector<index_t> bounds_;
};

template <class O> coo<double> sort_general(entries& e) {
  const index_t n = e.head.stored;
  const bool valued = e.head.field != matrix_header::field::pattern;
  coo<double> a;
  a.shape = e.head.shape;
  row_sort<O, false> sort(e);
  a.col = host_array<std::int32_t>(n);
  sort.place(a.col, [&](index_t k, bool) { return e.col[k]; });
  e.col = {}; // each array goes as soon as it can: the peak is 24 bytes an entry, not 28
  if (!valued) e.row = {};
  a.val = host_array<double>(n);
  if (valued) {
    sort.rewind();
    sort.place(a.val, [&](index_t k, bool) { return e.val[k]; });
  } else {
    sort.for_each_part([&](index_t first, index_t last) {
      std::fill(a.val.data() + sort.start()[first], a.val.data() + sort.start()[last], 1.0);
    });
  }
  e = {};
  finish_rows(a, sort.start(), sort.bounds());
  return a;
}

template <class O> coo<double> sort_mirrored(entries& e) {
  const index_t n = 2 * e.head.stored - e.diagonal;
  const bool valued = e.head.field != matrix_header::field::pattern;
  const double sign = e.head.symmetry == matrix_header::symmetry::skew_symmetric ? -1 : 1;
  coo<double> a;
  a.shape = e.head.shape;
  row_sort<O, true> sort(e);
  a.col = host_array<std::int32_t>(n);
  a.val = host_array<double>(n);
  sort.place_all([&](index_t to, index_t k, bool m) {
    a.col[to] = m ? e.row[k] : e.col[k];
    a.val[to] = !valued ? 1.0 : m ? sign * e.val[k] : e.val[k];
  });
  e = {};
  finish_rows(a, sort.start(), sort.bounds());
  return a;
}

} // namespace

coo<double> assemble(entries&& e) {
  if (e.head.layout == matrix_header::layout::array) return assemble_dense(std::move(e));
  if (is_hypersparse(e.head)) return assemble_hypersparse(std::move(e));
  const bool narrow = 2 * e.head.stored < index_t(std::numeric_limits<std::uint32_t>::max());
  if (is_mirrored(e.head)) return narrow ? sort_mirrored<std::uint32_t>(e) : sort_mirrored<index_t>(e);
  return narrow ? sort_general<std::uint32_t>(e) : sort_general<index_t>(e);
}

double estimate_assembly(const matrix_header& head) {
  const auto stored = static_cast<double>(head.stored), rows = static_cast<double>(head.shape.rows);
  const bool valued = head.field != matrix_header::field::pattern;
  if (head.layout == matrix_header::layout::array) return 16 * rows * static_cast<double>(head.shape.cols);
  const double read = (valued ? 16 : 8) * stored;
  const bool skew = head.symmetry == matrix_header::symmetry::skew_symmetric;
  const double entries = is_mirrored(head) ? 2 * stored - (skew ? 0 : std::min(stored, rows)) : stored;
  if (is_hypersparse(head)) return read + 40 * entries;
  const double offsets = (2 * stored < 4294967295.0 ? 4 : 8) * rows;
  const double sorting = is_mirrored(head) ? read + 12 * entries : (valued ? 24 : 16) * stored;
  return std::max(sorting, 16 * entries) + offsets;
}

} // namespace furrow::io
