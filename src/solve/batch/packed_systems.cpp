// SPDX-License-Identifier: BSD-3-Clause
#include "packed_systems.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <limits>

namespace furrow::small_systems {
namespace {

template <class V> void pack_one(const given_system<V>& s, packed_systems<V>& to) {
  const facts& f = s.about;
  const V sign = s.negated ? V(-1) : V(1);
  std::int32_t* const row_ptr = to.row_ptr.data() + f.offset_at;
  std::fill(row_ptr, row_ptr + f.rows + 1, 0);
  for (const std::int32_t row : s.a.row) ++row_ptr[row + 1];
  for (std::int32_t i = 0; i < f.rows; ++i) row_ptr[i + 1] += row_ptr[i];
  V* const d = to.d.empty() ? nullptr : to.d.data() + f.vector_at;
  for (std::int32_t k = 0; k < f.entries; ++k) {
    const std::int32_t col = s.a.col[k];
    const V v = sign * s.a.val[k];
    to.col[f.entry_at + k] = static_cast<std::uint16_t>(col);
    to.val[f.entry_at + k] = v;
    if (d && s.a.row[k] == col) d[col] = V(1) / v;
  }
  for (std::int32_t i = 0; i < f.rows; ++i) {
    to.b[f.vector_at + i] = sign * s.b[i];
    to.first[f.vector_at + i] = s.x[i];
  }
}

} // namespace

template <class V> double packed_systems<V>::bytes() const {
  double total = 0;
  const auto add = [&](const auto& array) { total += double(array.byte_count()); };
  add(about), add(row_ptr), add(col), add(val), add(b), add(first), add(d);
  return total;
}

template <class V> double packed_bytes(index_t rows, index_t entries, bool diagonal) {
  return double(sizeof(facts)) + 4 * double(rows + 1) + (2 + double(sizeof(V))) * double(entries) +
         (2 + diagonal) * double(sizeof(V)) * double(rows);
}

template <class V> double device_bytes(index_t rows, index_t entries, bool diagonal) {
  constexpr int kept = 5; // x, r, p, the best x, and r~
  return packed_bytes<V>(rows, entries, diagonal) + kept * double(sizeof(V)) * double(rows) + 2 * double(sizeof(state));
}

template <class V> packed_systems<V> pack(std::vector<given_system<V>>& systems, bool diagonal) {
  index_t vectors = 0, offsets = 0, entries = 0;
  packed_systems<V> to;
  to.about = host_array<facts>(std::ssize(systems));
  for (std::size_t k = 0; k < systems.size(); ++k) {
    given_system<V>& s = systems[k];
    const index_t rows = s.a.shape.rows;
    require(rows == s.a.shape.cols && rows <= most_rows && s.a.nnz() <= std::numeric_limits<std::int32_t>::max(),
            "the system is not small");
    s.about.rows = static_cast<std::int32_t>(rows), s.about.entries = static_cast<std::int32_t>(s.a.nnz());
    s.about.vector_at = vectors, s.about.offset_at = offsets, s.about.entry_at = entries;
    vectors += rows, offsets += rows + 1, entries += s.a.nnz();
    to.about[index_t(k)] = s.about;
  }
  to.row_ptr = host_array<std::int32_t>(offsets), to.col = host_array<std::uint16_t>(entries);
  to.val = host_array<V>(entries), to.b = host_array<V>(vectors), to.first = host_array<V>(vectors);
  to.d = host_array<V>(diagonal ? vectors : 0);
  cpu::for_each_range(std::ssize(systems), 1, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) pack_one(systems[static_cast<std::size_t>(k)], to);
  });
  return to;
}

#define FURROW_PACKED(V)                                                                                               \
  template struct packed_systems<V>;                                                                                   \
  template double packed_bytes<V>(index_t, index_t, bool);                                                             \
  template double device_bytes<V>(index_t, index_t, bool);                                                             \
  template packed_systems<V> pack(std::vector<given_system<V>>&, bool);
FURROW_PACKED(double)
FURROW_PACKED(float)
#undef FURROW_PACKED

} // namespace furrow::small_systems
