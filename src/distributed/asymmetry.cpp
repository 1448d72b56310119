// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_rank.hpp"

#include "partition.hpp"
#include "together.hpp"

#include "core/row_offsets.hpp"
#include "core/symmetry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

/// An entry by its place in the whole matrix.
template <class V> struct sent_entry {
  std::int32_t row, col;
  V value;
  friend bool operator<(const sent_entry& a, const sent_entry& b) {
    return std::pair(a.row, a.col) < std::pair(b.row, b.col);
  }
};

/// The root of the largest |A[i,k]| of each row, whose product is what a difference is small beside.
template <class V>
host_array<V> roots_of_rows(const rows_of_rank<V>& a, const coo<V>& own, const host_array<index_t>& row_ptr) {
  host_array<V> root(own.shape.rows);
  cpu::for_each_range(root.size(), 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      root[i] = V(0);
      for (index_t k = row_ptr[i]; k < row_ptr[i + 1]; ++k) root[i] = std::max(root[i], std::abs(own.val[k]));
    }
  });
  for (index_t k = 0; k < a.far.nnz(); ++k) {
    V& largest = root[a.far_rows[a.far.row[k]]];
    largest = std::max(largest, std::abs(a.far.val[k]));
  }
  for (V& r : root) r = std::sqrt(r);
  return root;
}

template <class V> std::string sentence(index_t i, index_t j, V one, V other) {
  return fmt::format("the matrix is not symmetric: A({}, {}) = {} but A({}, {}) = {}; the solver needs a symmetric "
                     "matrix: use the solver bicgstab, or assume_symmetric where the difference means nothing",
                     i + 1, j + 1, one, j + 1, i + 1, other);
}

template <class V>
std::string own_asymmetry(const coo<V>& own, index_t row, const host_array<index_t>& row_ptr,
                          const host_array<V>& root) {
  for (index_t k = 0; k < own.nnz(); ++k) {
    const std::int32_t i = own.row[k], j = own.col[k];
    if (i == j) continue;
    const auto* const first = own.col.data() + row_ptr[j];
    const auto* const last = own.col.data() + row_ptr[j + 1];
    const auto* const found = std::lower_bound(first, last, i);
    const V mirror = found != last && *found == i ? own.val[found - own.col.data()] : V(0);
    if (differ(own.val[k], mirror, root[i] * root[j])) return sentence(row + i, row + j, own.val[k], mirror);
  }
  return {};
}

/// What couples this rank to others, sorted by their rows and so by their ranks, with rows and columns swapped: a
/// transposition, for the entries come by rows and the columns of the plan ascend.
template <class V> host_array<sent_entry<V>> mirrored(const rows_of_rank<V>& a) {
  host_array<index_t> next(a.plan.columns.size() + 1, 0);
  for (const std::int32_t j : a.far.col) ++next[j + 1];
  for (index_t j = 0; j + 1 < next.size(); ++j) next[j + 1] += next[j];
  host_array<sent_entry<V>> entries(a.far.nnz());
  for (index_t k = 0; k < a.far.nnz(); ++k) {
    const std::int32_t j = a.far.col[k];
    entries[next[j]++] = {a.plan.columns[j], static_cast<std::int32_t>(a.first + a.far_rows[a.far.row[k]]),
                          a.far.val[k]};
  }
  return entries;
}

/// Pieces that are sorted, one behind the other; piece p begins at begins[p].
template <class V> void merge_pieces(host_array<sent_entry<V>>& all, const std::vector<index_t>& begins) {
  for (std::size_t apart = 1; apart + 1 < begins.size(); apart *= 2)
    for (std::size_t p = 0; p + apart + 1 < begins.size(); p += 2 * apart)
      std::inplace_merge(all.begin() + begins[p], all.begin() + begins[p + apart],
                         all.begin() + begins[std::min(p + 2 * apart, begins.size() - 1)]);
}

/// Each to the rank that has its row; what comes is sorted.
template <class V>
host_array<sent_entry<V>> send_home(communicator& c, const rows_of_rank<V>& a,
                                    const host_array<sent_entry<V>>& entries) {
  const auto ranks = static_cast<std::size_t>(c.size()), me = static_cast<std::size_t>(c.rank());
  std::vector<index_t> counts(ranks, 0), all(ranks * ranks);
  const auto* at = entries.begin();
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto* const end =
        std::partition_point(at, entries.end(), [&](const sent_entry<V>& e) { return e.row < a.begins[r + 1]; });
    counts[r] = end - at, at = end;
  }
  c.gather_all(bytes_of(cview<index_t>(counts)), bytes_of(view<index_t>(all)));
  std::vector<outgoing> out;
  std::vector<incoming> in;
  index_t sent = 0, total = 0;
  for (std::size_t r = 0; r < ranks; ++r) total += all[r * ranks + me];
  host_array<sent_entry<V>> come(total);
  std::vector<index_t> begins{0};
  for (std::size_t r = 0; r < ranks; ++r) {
    if (counts[r] > 0) out.push_back({int(r), bytes_of(cview<sent_entry<V>>(entries.data() + sent, counts[r]))});
    sent += counts[r];
    const index_t coming = all[r * ranks + me];
    if (coming == 0) continue;
    in.push_back({int(r), bytes_of(view<sent_entry<V>>(come.data() + begins.back(), coming))});
    begins.push_back(begins.back() + coming);
  }
  c.start(out, in);
  c.finish();
  merge_pieces(come, begins);
  return come;
}

/// Compares own entries with the mirrors that came; one that the other side lacks is 0 there. A mirror of an entry that
/// is missing here is looked at on the other side. Without roots pairs are compared with themselves alone.
template <class V>
std::string far_asymmetry(const rows_of_rank<V>& a, const host_array<sent_entry<V>>& came, cview<V> root,
                          cview<V> far_root) {
  const auto* mirror = came.begin();
  for (index_t k = 0; k < a.far.nnz(); ++k) { // by row and column of the whole matrix
    const std::int32_t i = a.far_rows[a.far.row[k]], j = a.far.col[k];
    const sent_entry<V> e{static_cast<std::int32_t>(a.first) + i, a.plan.columns[j], a.far.val[k]};
    while (mirror != came.end() && *mirror < e) ++mirror;
    const bool there = mirror != came.end() && !(e < *mirror);
    const V other = there ? mirror->value : V(0);
    if (there) ++mirror;
    const V size = root.empty() ? V(0) : root[i] * far_root[j];
    if (differ(e.value, other, size)) return sentence(e.row, e.col, e.value, other);
  }
  return {};
}

/// Whether all pairs are alike beside themselves, which is asked where the entries lie: then they are beside rows, too.
template <class V>
bool is_plainly_symmetric(communicator& c, const rows_of_rank<V>& a, const host_array<sent_entry<V>>& came) {
  bool symmetric = false;
  together(c, [&] {
    symmetric = (a.own_there ? a.own_there->is_symmetric() : is_symmetric(a.own)) &&
                far_asymmetry(a, came, cview<V>{}, cview<V>{}).empty();
  });
  return !c.any(!symmetric);
}

} // namespace

template <class V> std::string asymmetry(communicator& c, const rows_of_rank<V>& a) {
  host_array<sent_entry<V>> entries;
  together(c, [&] { entries = mirrored(a); });
  const auto came = send_home(c, a, entries);
  if (is_plainly_symmetric(c, a, came)) return {};
  std::string what;
  host_array<V> root;
  together(c, [&] {
    const coo<V>& own = a.own_there ? a.own_there->triplets() : a.own;
    const auto row_ptr = offsets_of_rows<index_t>(own.row, own.shape.rows);
    root = roots_of_rows(a, own, row_ptr), what = own_asymmetry(own, a.first, row_ptr, root);
  });
  halo<V> roots(c, a.plan);
  roots.start(as_cview(root));
  const cview<V> far_root = roots.finish();
  together(c, [&] {
    if (what.empty()) what = far_asymmetry(a, came, as_cview(root), far_root);
  });
  return first_sentence(c, what);
}

template std::string asymmetry(communicator&, const rows_of_rank<double>&);
template std::string asymmetry(communicator&, const rows_of_rank<float>&);

} // namespace furrow
