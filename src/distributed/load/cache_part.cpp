// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"
#include "part.hpp"
#include "tell.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/triplets.hpp"
#include "distributed/memory.hpp"
#include "io/cache_part.hpp"
#include "io/read_text.hpp"

#include <algorithm>

namespace furrow {
namespace {

using io::section_of_cache;

/// Entries [begins[r], begins[r + 1]) are read by rank r.
class sections_of_ranks {
public:
  sections_of_ranks(communicator& c, const io::input& file, const io::cache_header& h,
                    const std::vector<index_t>& begins)
      : c_(c), file_(file), h_(h), begins_(begins) {}

  /// This rank's elements; throws, on all, where those of all have not the checksum that the header tells of.
  template <class T> host_array<T> read(section_of_cache which) {
    const auto at = [&](int rank) { return sizeof(T) * static_cast<std::uint64_t>(begins_[std::size_t(rank)]); };
    const int me = c_.rank();
    host_array<T> mine(begins_[std::size_t(me) + 1] - begins_[std::size_t(me)]);
    std::vector<std::uint64_t> sums;
    alike(c_, [&] {
      sums = io::read_unchanged(
          file_, [&] { return io::read_part_of_section(file_, h_, which, at(me), at(me + 1), mine.data()); });
    });
    std::vector<outgoing> out;
    std::vector<incoming> in;
    const auto own = static_cast<index_t>(sums.size());
    if (me == 0) { // whose own ones come first
      index_t end = own;
      for (int r = 1; r < c_.size(); ++r) end += io::pieces_that_begin(at(r), at(r + 1));
      sums.resize(static_cast<std::size_t>(end));
      end = own;
      for (int r = 1; r < c_.size(); ++r) {
        const index_t n = io::pieces_that_begin(at(r), at(r + 1));
        if (n > 0) in.push_back({r, bytes_of(view<std::uint64_t>(sums.data() + end, n))});
        end += n;
      }
    } else if (own > 0) {
      out.push_back({0, bytes_of(cview<std::uint64_t>(sums))});
    }
    c_.start(out, in);
    c_.finish();
    alike(c_, [&] {
      if (me == 0) io::read_unchanged(file_, [&] { return io::check_sums_of_section(file_, h_, which, sums), 0; });
    });
    return mine;
  }

private:
  communicator& c_;
  const io::input& file_;
  const io::cache_header& h_;
  const std::vector<index_t>& begins_;
};

std::vector<index_t> even_shares(index_t entries, int ranks) {
  std::vector<index_t> begins;
  for (int r = 0; r <= ranks; ++r) begins.push_back(cpu::part_begin(entries, ranks, r));
  return begins;
}

/// Where the rows of each rank begin, and their entries. Empty where rows are outside of the matrix or not sorted.
struct cuts {
  std::vector<index_t> rows, entries;
};
cuts cut_rows(communicator& c, const io::cache_header& h, cview<std::int32_t> row, index_t first_entry) {
  struct ends {
    std::int32_t first = -1, last = -1; ///< -1: it has no entries
  };
  bool good = std::is_sorted(row.begin(), row.end());
  ends mine;
  if (!row.empty()) mine = {row[0], row[row.size - 1]}, good &= mine.first >= 0 && mine.last < h.rows;
  std::int32_t before = -1; // the last row that begins with an earlier rank
  int rank = 0;
  for (const ends& of : gather_each(c, mine)) {
    const bool earlier = rank++ < c.rank();
    if (earlier && of.first >= 0) before = of.last;
  }
  if (mine.first >= 0) good &= before <= mine.first;
  if (c.any(!good)) return {};
  // A rank looks at the rows behind those that begin with an earlier one, the last rank also at empty rows at the end.
  const bool is_last = c.rank() == c.size() - 1;
  const index_t first = index_t(before) + 1, last = is_last ? h.rows : std::max<index_t>(first, mine.last + 1);
  const auto entries_before = [&](index_t r) {
    return std::lower_bound(row.begin(), row.end(), static_cast<std::int32_t>(r)) - row.begin();
  };
  cuts at;
  at.rows = cut_among(c, first, last, h.rows, h.entries, [&](index_t r) { return first_entry + entries_before(r); });
  for (const index_t r : at.rows) at.entries.push_back(r == h.rows ? row.size : entries_before(r));
  at.entries = sum_each(c, at.entries);
  return at;
}

/// A file whose sums are right, but whose entries are not: the first rank says what it reads there.
part_of_problem as_one_reader(communicator& c, const io::input& file) {
  coo<double> a;
  alike(c, [&] {
    if (c.rank() == 0) a = io::read_unchanged(file, [&] { return io::read_cache(file); }).a;
  });
  return scatter_whole(c, std::move(a));
}

} // namespace

part_of_problem load_cache_part(communicator& c, const io::input& file) {
  io::cache_header h{};
  part_of_problem p;
  alike(c, [&] {
    if (c.rank() != 0) return;
    h = io::read_unchanged(file, [&] { return io::read_header_of_cache(file); });
    const std::string text = io::read_unchanged(file, [&] { return io::read_text_of_cache(file, h); });
    p.name = text.substr(0, static_cast<std::size_t>(h.name_bytes));
    p.origin = text.substr(static_cast<std::size_t>(h.name_bytes));
  });
  h = tell(c, 0, h);
  const index_t share = h.entries / c.size() + 1;
  check_memory_of_machine(c, 17.0 * double(share) + (c.rank() == 0 && h.has_b ? 8.0 * double(h.rows) : 0));
  cuts at;
  {
    const auto shares = even_shares(h.entries, c.size());
    const auto row = sections_of_ranks(c, file, h, shares).read<std::int32_t>(section_of_cache::row);
    at = cut_rows(c, h, as_cview(row), shares[std::size_t(c.rank())]);
  }
  if (at.rows.empty()) return as_one_reader(c, file);
  const auto me = std::size_t(c.rank());
  sections_of_ranks sections(c, file, h, at.entries);
  p.begins = at.rows;
  p.a.shape = {at.rows[me + 1] - at.rows[me], h.cols};
  p.a.col = sections.read<std::int32_t>(section_of_cache::col);
  p.a.val = sections.read<double>(section_of_cache::val);
  p.a.row = host_array<std::int32_t>(p.a.nnz());
  alike(c, [&] {
    io::read_part_of_section(file, h, section_of_cache::row, 4 * std::uint64_t(at.entries[me]),
                             4 * std::uint64_t(at.entries[me + 1]), p.a.row.data());
    if (c.rank() == 0 && h.has_b) {
      p.b = host_array<double>(h.rows);
      const auto sums = io::read_part_of_section(file, h, section_of_cache::b, 0, h.section[4].bytes, p.b->data());
      io::check_sums_of_section(file, h, section_of_cache::b, sums);
    }
    file.check_unchanged();
  });
  for (std::int32_t& i : p.a.row) i -= static_cast<std::int32_t>(at.rows[me]);
  if (c.any(!broken_promise(p.a.shape, p.a.row, p.a.col, p.a.nnz()).empty())) return as_one_reader(c, file);
  return p;
}

} // namespace furrow
