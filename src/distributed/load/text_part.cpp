// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"
#include "deal.hpp"
#include "part.hpp"
#include "tell.hpp"

#include "distributed/memory.hpp"
#include "io/parse_part.hpp"

#include <algorithm>
#include <limits>

namespace furrow {
namespace {

/// Part `rank` of the body as this rank reads it, once all ranks know that the whole of it is good.
io::part_of_body read_part(communicator& c, const io::input& file, const io::head_lines& lines) {
  const io::pieces_of_body cut = io::cut_body(file, lines);
  io::part_of_body part;
  std::optional<error> failed; // what the earlier parts say comes before it
  try {
    part = io::parse_part(file, lines, cpu::part_begin(cut.count, c.size(), c.rank()),
                          cpu::part_begin(cut.count, c.size(), c.rank() + 1));
  } catch (const error& e) {
    failed.emplace(e.kind, e.what());
  } catch (const std::bad_alloc&) {
    failed.emplace(fault::memory, "out of memory");
  }
  io::account before, all;
  int rank = 0;
  for (const io::account& one : gather_each(c, part.sum())) {
    if (rank++ == c.rank()) before = all;
    all.entries += one.entries, all.lower |= one.lower, all.upper |= one.upper;
  }
  alike(c, [&] {
    if (failed) throw *failed;
    io::read_unchanged(file, [&] { return io::check_part(file, lines, part, before), 0; });
  });
  if (cut.too_long) alike(c, [&] { io::refuse_long_body(file.name(), lines.head.stored); });
  if (all.entries < lines.head.stored) {
    const bool has_lines = std::ranges::any_of(part.blocks, [](const io::block& b) { return b.text >= 0; });
    const auto have = gather_each(c, char(has_lines));
    const auto last = std::find(have.rbegin(), have.rend(), char(true));
    const int who = last == have.rend() ? 0 : int(have.rend() - last) - 1;
    alike(c, [&] {
      if (c.rank() == who) io::read_unchanged(file, [&]() -> int { io::refuse_short_part(file, lines, part, before); });
    });
  }
  return part;
}

/// put(row, column, value) for the entries of a piece and, of a mirrored file, their mirrors.
struct entries_of_pieces {
  const std::vector<io::piece_entries>& pieces;
  bool mirrored;
  double sign;

  template <class Put> void operator()(index_t k, Put put) const {
    const io::piece_entries& p = pieces[static_cast<std::size_t>(k)];
    for (index_t e = 0; e < p.row.size(); ++e) {
      const double v = p.val.empty() ? 1.0 : p.val[e];
      put(p.row[e], p.col[e], v);
      if (mirrored && p.row[e] != p.col[e]) put(p.col[e], p.row[e], sign * v);
    }
  }
};

struct row_range {
  index_t first, last;
};

/// The first row and the one behind the last of what a rank's pieces hold, mirrors included.
row_range rows_of(const entries_of_pieces& entries) {
  std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = -1;
  const auto look_at = [&](const host_array<std::int32_t>& indices) {
    for (const std::int32_t i : indices) least = std::min(least, i), most = std::max(most, i);
  };
  for (const io::piece_entries& p : entries.pieces) {
    look_at(p.row);
    if (entries.mirrored) look_at(p.col);
  }
  return most < 0 ? row_range{0, 0} : row_range{least, most + index_t(1)};
}

row_range overlap_of(row_range a, row_range b) {
  const index_t first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

/// The lengths, duplicates included, of an even share of the rows: each rank counts what it has read, and the one with
/// those rows adds up.
host_array<index_t> count_rows(communicator& c, const entries_of_pieces& entries, index_t rows) {
  const row_range seen = rows_of(entries);
  host_array<index_t> counts(seen.last - seen.first, 0);
  for (index_t k = 0; k < std::ssize(entries.pieces); ++k)
    entries(k, [&](std::int32_t i, std::int32_t, double) { ++counts[i - seen.first]; });
  const auto share = [&](int r) {
    return row_range{cpu::part_begin(rows, c.size(), r), cpu::part_begin(rows, c.size(), r + 1)};
  };
  const row_range mine = share(c.rank());
  host_array<index_t> sum(mine.last - mine.first, 0);
  const auto add = [&](row_range of, const index_t* more) {
    for (index_t i = of.first; i < of.last; ++i) sum[i - mine.first] += more[i - of.first];
  };
  std::vector<outgoing> out;
  std::vector<incoming> in;
  std::vector<host_array<index_t>> come(static_cast<std::size_t>(c.size()));
  const auto ranges = gather_each(c, seen);
  for (int r = 0; r < c.size(); ++r) {
    const row_range to = overlap_of(seen, share(r)), from = overlap_of(ranges[static_cast<std::size_t>(r)], mine);
    if (r == c.rank()) continue;
    if (to.first < to.last)
      out.push_back({r, bytes_of(cview<index_t>(counts.data() + (to.first - seen.first), to.last - to.first))});
    auto& room = come[static_cast<std::size_t>(r)] = host_array<index_t>(from.last - from.first);
    if (!room.empty()) in.push_back({r, bytes_of(as_view(room))});
  }
  c.start(out, in);
  c.finish();
  for (int r = 0; r < c.size(); ++r) {
    const row_range from = overlap_of(ranges[static_cast<std::size_t>(r)], mine);
    if (r != c.rank()) add(from, come[static_cast<std::size_t>(r)].data());
    else if (from.first < from.last) add(from, counts.data() + (from.first - seen.first));
  }
  return sum;
}

/// Sorted by row and column, duplicates summed in their order.
coo<double> sorted(coo<double> a) {
  constexpr index_t block_size = index_t(1) << 15;
  if (a.nnz() == 0) return a;
  io::entries e;
  e.head.shape = a.shape, e.head.stored = a.nnz();
  e.row = std::move(a.row), e.col = std::move(a.col), e.val = std::move(a.val);
  for (index_t k = 0; k < e.head.stored; k += block_size)
    e.blocks.push_back({.first = k, .count = std::min(block_size, e.head.stored - k)});
  return io::assemble(std::move(e));
}

/// Where duplicates have been summed the shares are others: rows go where they belong by what is left.
void cut_again(communicator& c, part_of_problem& p, index_t dealt) {
  if (!c.any(p.a.nnz() < dealt)) return;
  host_array<index_t> lengths(p.a.shape.rows, 0);
  for (const std::int32_t i : p.a.row) ++lengths[i];
  std::vector<index_t> begins = cut_by_lengths(c, cview<index_t>(as_view(lengths)), p.begins.back());
  if (begins == p.begins) return;
  const auto first = static_cast<std::int32_t>(p.begins[static_cast<std::size_t>(c.rank())]);
  const chunks_of_rows<double> chunks{p.a};
  const auto visit = [&](index_t k, auto put) {
    chunks.visit(k, [&](std::int32_t i, std::int32_t j, double v) { put(first + i, j, v); });
  };
  const auto keep = [](index_t) {};
  dealing<double, decltype(visit), decltype(keep)> way(c, begins, chunks.count(), visit, keep);
  p.a = way.deal(p.a.shape.cols);
  p.begins = std::move(begins);
}

} // namespace

part_of_problem load_text_part(communicator& c, const io::input& file, const io::head_lines& lines) {
  const matrix_header& head = lines.head;
  const bool mirrored = io::is_mirrored(head);
  const double stored = double(head.stored) / c.size(), dealt = (mirrored ? 2 : 1) * stored;
  constexpr double room_of_thread = 4 * double(io::piece_bytes); // text and what is parsed of it
  check_memory_of_machine(c, std::max(16 * stored + 16 * dealt, 24 * dealt) + room_of_thread * cpu::thread_count());
  io::part_of_body part = read_part(c, file, lines);
  const entries_of_pieces entries{part.pieces, mirrored,
                                  head.symmetry == matrix_header::symmetry::skew_symmetric ? -1.0 : 1.0};
  part_of_problem p;
  {
    const host_array<index_t> lengths = count_rows(c, entries, head.shape.rows);
    p.begins = cut_by_lengths(c, as_cview(lengths), head.shape.rows);
  }
  const auto drop = [&](index_t k) { part.pieces[static_cast<std::size_t>(k)] = {}; };
  index_t came = 0;
  {
    dealing<double, entries_of_pieces, decltype(drop)> way(c, p.begins, std::ssize(part.pieces), entries, drop);
    p.a = way.deal(head.shape.cols);
    came = p.a.nnz();
  }
  p.a = sorted(std::move(p.a));
  cut_again(c, p, came);
  alike(c, [&] { file.check_unchanged(); });
  return p;
}

} // namespace furrow
