// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"

#include <algorithm>

namespace furrow::resident {
namespace {

/// A part with less work than this gains nothing: on an H100 poisson3d:32 takes 3.1 us a step in 99 parts and 3.5 in
/// 131, poisson3d:16 takes 2.8 in 32 and 3.3 in 131.
constexpr index_t work_of_a_part = 2900, few_parts = 32;

std::int64_t bytes_beside_registers(const share_size& s, int value_bytes, vectors_kept kept) {
  const auto whole = [](std::int64_t bytes) { return (bytes + 7) / 8 * 8; };
  return whole((s.rows + s.halo) * value_bytes) + kept.of_rows_beside_registers * whole(s.rows * value_bytes) +
         kept.of_halo_beside_registers * whole(s.halo * value_bytes);
}

/// Whether a block may begin with a row: no entry of M joins one before it with one behind.
std::vector<bool> beginnings(const matrix_of_m& m, index_t rows) {
  std::vector<index_t> joins(static_cast<std::size_t>(rows + 1), 0); // by how much more, or fewer, entries cross
  for (index_t i = 0; i + 1 < m.row_ptr.size; ++i)
    for (index_t k = m.row_ptr[i]; k < m.row_ptr[i + 1]; ++k) {
      const auto [low, high] = std::minmax({i, index_t(m.col[k])});
      if (low < high) ++joins[static_cast<std::size_t>(low + 1)], --joins[static_cast<std::size_t>(high + 1)];
    }
  std::vector<bool> may(static_cast<std::size_t>(rows + 1));
  index_t crossing = 0;
  for (index_t i = 0; i <= rows; ++i)
    may[static_cast<std::size_t>(i)] = (crossing += joins[static_cast<std::size_t>(i)]) == 0;
  return may;
}

/// At most so many parts.
std::vector<std::int32_t> cut(cview<index_t> row_ptr, const matrix_of_m& m, index_t parts) {
  const index_t rows = row_ptr.size - 1;
  const bool has_m = m.row_ptr.size > 0;
  const std::vector<bool> may = has_m ? beginnings(m, rows) : std::vector<bool>{};
  const auto work = [&](index_t i) { return row_ptr[i] + (has_m ? m.row_ptr[i] : 0) + 2 * i; };
  std::vector<std::int32_t> first{0};
  for (index_t k = 1; k < parts; ++k) {
    const index_t goal = work(rows) * k / parts;
    index_t low = first.back() + 1, high = rows - (parts - k); // a row for each block before and behind
    while (low < high) {
      const index_t middle = (low + high) / 2;
      if (work(middle) < goal) low = middle + 1;
      else high = middle;
    }
    while (has_m && low < rows && !may[static_cast<std::size_t>(low)]) ++low;
    if (low >= rows) break;
    first.push_back(static_cast<std::int32_t>(low));
  }
  first.push_back(static_cast<std::int32_t>(rows));
  return first;
}

/// Numbers the columns of one part of the rows after another, in the memory of one thread.
class numbering {
public:
  numbering(cview<index_t> row_ptr, cview<std::int32_t> col)
      : row_ptr_(row_ptr), col_(col), place_(static_cast<std::size_t>(row_ptr.size - 1), -1) {}

  /// Of rows [from, to), into `numbers`; returns their halo.
  std::vector<std::int32_t> run(std::int32_t from, std::int32_t to, std::vector<std::uint16_t>& numbers) {
    marks_ += 2 * most_elements; // what is below belongs to parts before
    std::vector<std::int32_t> halo;
    for (index_t k = row_ptr_[from]; k < row_ptr_[to]; ++k) {
      const std::int32_t c = col_[k];
      if ((c >= from && c < to) || at(c) >= marks_) continue;
      at(c) = marks_;
      halo.push_back(c);
    }
    std::ranges::sort(halo);
    for (std::size_t k = 0; k < halo.size(); ++k) at(halo[k]) = marks_ + to - from + static_cast<index_t>(k);
    for (index_t k = row_ptr_[from]; k < row_ptr_[to]; ++k) {
      const std::int32_t c = col_[k];
      const bool own = c >= from && c < to;
      numbers[static_cast<std::size_t>(k)] = static_cast<std::uint16_t>(own ? c - from : at(c) - marks_);
    }
    return halo;
  }

private:
  index_t& at(std::int32_t c) { return place_[static_cast<std::size_t>(c)]; }

  cview<index_t> row_ptr_;
  cview<std::int32_t> col_;
  std::vector<index_t> place_; ///< of each column, its number in the last part that met it, from that part's marks on
  index_t marks_ = 0;
};

} // namespace

plan make_plan(cview<index_t> row_ptr, cview<std::int32_t> col, int value_bytes, const chip& c, vectors_kept kept,
               const matrix_of_m& m) {
  const index_t rows = row_ptr.size - 1;
  if (rows < 1 || c.blocks < 2) return {};
  const index_t entries = row_ptr[rows];
  if (rows > INT32_MAX || entries > INT32_MAX) return {};
  // Vectors alone, before anything takes time.
  const index_t room = std::min<index_t>(std::min(c.blocks, most_blocks) - 1, rows);
  const index_t wanted = std::min(room, std::max(few_parts, (entries + 2 * rows) / work_of_a_part));
  if (bytes_of({rows / room, 0, 0}, value_bytes, false, kept) > c.block_bytes) return {};
  plan p;
  p.first = cut(row_ptr, m, wanted);
  const auto parts = static_cast<index_t>(p.first.size()) - 1;
  p.halo_first = {0};
  p.col.resize(static_cast<std::size_t>(entries));
  std::vector<std::vector<std::int32_t>> halos(static_cast<std::size_t>(parts));
  const index_t groups = std::clamp<index_t>(entries / 50000, 1, cpu::thread_count());
  cpu::for_each_task(groups, [&](index_t g) {
    numbering own(row_ptr, col);
    for (index_t k = cpu::part_begin(parts, groups, g); k < cpu::part_begin(parts, groups, g + 1); ++k) {
      const auto at = static_cast<std::size_t>(k);
      halos[at] = own.run(p.first[at], p.first[at + 1], p.col);
    }
  });
  std::int64_t without = 0, with = 0, few = 0;
  share_size most;
  for (std::size_t k = 0; k < halos.size(); ++k) {
    const std::int32_t from = p.first[k], to = p.first[k + 1];
    const index_t of_m = m.row_ptr.size > 0 ? m.row_ptr[to] - m.row_ptr[from] : 0;
    const share_size s{to - from, row_ptr[to] - row_ptr[from] + of_m, static_cast<index_t>(halos[k].size())};
    if (s.rows + s.halo > most_elements) return {};
    without = std::max(without, bytes_of(s, value_bytes, false, kept));
    with = std::max(with, bytes_of(s, value_bytes, true, kept));
    few = std::max(few, bytes_beside_registers(s, value_bytes, kept));
    most.rows = std::max(most.rows, s.rows), most.halo = std::max(most.halo, s.halo);
    if (without > c.block_bytes) return {};
    p.halo.insert(p.halo.end(), halos[k].begin(), halos[k].end());
    p.halo_first.push_back(static_cast<std::int32_t>(p.halo.size()));
  }
  p.col_of_m.resize(static_cast<std::size_t>(m.col.size));
  for (std::size_t k = 0; m.row_ptr.size > 0 && k < halos.size(); ++k)
    for (index_t e = m.row_ptr[p.first[k]]; e < m.row_ptr[p.first[k + 1]]; ++e)
      p.col_of_m[static_cast<std::size_t>(e)] = static_cast<std::uint16_t>(m.col[e] - p.first[k]);
  p.inside = with <= c.block_bytes;
  p.bytes = p.inside ? with : without;
  // As many lanes a row as give each thread a part of one row at most, none of them without an entry.
  while (p.lanes < 32 && 2 * p.lanes * most.rows <= threads && 2 * p.lanes * rows <= entries) p.lanes *= 2;
  if (m.row_ptr.size > 0 || p.lanes * most.rows > threads || most.halo > gather_batch * gather_threads) return p;
  index_t longest = 0;
  for (index_t i = 0; i < rows; ++i) longest = std::max(longest, row_ptr[i + 1] - row_ptr[i]);
  for (const int size : register_sizes) {
    if (size * p.lanes < longest) continue;
    p.registers = size, p.inside = true, p.bytes = few;
    break;
  }
  return p;
}

bool may_fit(index_t rows, int value_bytes, const chip& c, vectors_kept kept) {
  if (c.blocks < 2) return false;
  const index_t of_a_block = (rows + c.blocks - 2) / (c.blocks - 1);
  return bytes_of({of_a_block, 0, of_a_block}, value_bytes, false, kept) <= c.block_bytes;
}

void does_not_fit(index_t rows, index_t entries, const chip& c, const names& who) {
  throw_sentence(fault::memory,
                 "{} keeps a system on the chip, and {} rows with {} entries do not fit on {} multiprocessors "
                 "with {} KB each: take {}",
                 who.solver, rows, entries, c.blocks, c.block_bytes / 1024, who.usual);
}
void does_not_run(std::int64_t bytes, const names& who) {
  throw_sentence(fault::device,
                 "{} needs {} threads and {} KB on each multiprocessor at once, which this GPU does not have: take {}",
                 who.solver, int(threads), bytes / 1024, who.usual);
}

} // namespace furrow::resident
