// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/all_finite.hpp"
#include "solve/moves.hpp"

#include <furrow/coo.hpp>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace furrow {

/// Rows in an order in which those of each rank follow each other.
struct renumbering {
  std::vector<index_t> begins;     ///< of each rank, and the end
  host_array<std::int32_t> old_of; ///< the row that comes at each place; those of a rank keep their order
};

inline renumbering renumber(const std::vector<int>& part, int parts) {
  renumbering to{std::vector<index_t>(static_cast<std::size_t>(parts) + 1, 0),
                 host_array<std::int32_t>(static_cast<index_t>(part.size()))};
  for (const int p : part) ++to.begins[static_cast<std::size_t>(p) + 1];
  std::partial_sum(to.begins.begin(), to.begins.end(), to.begins.begin());
  std::vector<index_t> next(to.begins.begin(), to.begins.end() - 1);
  for (std::size_t i = 0; i < part.size(); ++i)
    to.old_of[next[static_cast<std::size_t>(part[i])]++] = static_cast<std::int32_t>(i);
  return to;
}

/// P A P': row and column k are those of old_of[k]. Takes as much memory again, and sorts each row.
template <class V> coo<V> renumbered(const coo<V>& a, const renumbering& to) {
  const index_t n = a.shape.rows;
  host_array<std::int32_t> new_of(n);
  host_array<index_t> begin(n + 1, 0);
  for (index_t k = 0; k < n; ++k) new_of[to.old_of[k]] = static_cast<std::int32_t>(k);
  for (index_t k = 0; k < a.nnz(); ++k) ++begin[a.row[k] + 1];
  for (index_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  coo<V> b{a.shape, host_array<std::int32_t>(a.nnz()), host_array<std::int32_t>(a.nnz()), host_array<V>(a.nnz())};
  std::vector<std::pair<std::int32_t, V>> row;
  index_t at = 0;
  for (index_t i = 0; i < n; ++i) {
    const index_t old = to.old_of[i];
    row.clear();
    for (index_t k = begin[old]; k < begin[old + 1]; ++k) row.emplace_back(new_of[a.col[k]], a.val[k]);
    std::ranges::sort(row, {}, &std::pair<std::int32_t, V>::first);
    for (const auto& [col, value] : row) b.row[at] = static_cast<std::int32_t>(i), b.col[at] = col, b.val[at++] = value;
  }
  return b;
}

/// Whether rows may move. A system with a number that is not finite has no answer whoever cuts it: it stays as it is,
/// so that the sentence which says so names the caller's row or element.
template <class V> bool may_move(const coo<V>& a, cview<V> b, cview<V> x) {
  return cpu::all_finite(as_cview(a.val)) && cpu::all_finite(b) && cpu::all_finite(x);
}

/// Adds to a message about rows of P A P' that its numbers are not the caller's.
inline void say_that_rows_moved(std::string& message) {
  if (names_rows(message)) message += "; rows are numbered as METIS moved them: the partition rows keeps yours";
}

/// v[old_of[k]] at k, and back.
template <class V> host_array<V> renumbered(cview<V> v, const renumbering& to) {
  host_array<V> moved(v.size);
  for (index_t k = 0; k < v.size; ++k) moved[k] = v[to.old_of[k]];
  return moved;
}
template <class V> void put_back(cview<V> moved, const renumbering& to, view<V> v) {
  for (index_t k = 0; k < v.size; ++k) v[to.old_of[k]] = moved[k];
}

/// Shows a monitor x in the order before. `to` outlives it.
template <class M> M monitor_of_moved(M monitor, const renumbering& to) {
  return [monitor, &to](const auto& now, cview<double> moved) {
    host_array<double> own(moved.size);
    put_back(moved, to, as_view(own));
    return monitor(now, as_cview(own));
  };
}

} // namespace furrow
