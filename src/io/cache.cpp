// SPDX-License-Identifier: BSD-3-Clause
#include "atomic_file.hpp"
#include "backends/cpu/parallel.hpp"
#include "cache_part.hpp"
#include "checksum.hpp"
#include "core/check.hpp"
#include "core/triplets.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

namespace furrow {
namespace io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr const char* section_names[] = {"text", "row", "column", "value", "right-hand side"};

index_t pieces_of(std::uint64_t bytes) { return static_cast<index_t>((bytes + cache_piece - 1) / cache_piece); }

/// Calls work(data, bytes, offset in the section, piece) for all pieces of a section, on all threads.
template <class Work> void for_each_piece(char* data, std::uint64_t bytes, Work work) {
  const index_t pieces = pieces_of(bytes);
  cpu::for_each_range(pieces, 1, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      const std::uint64_t from = static_cast<std::uint64_t>(k) * cache_piece;
      work(data + from, std::min(cache_piece, bytes - from), from, k);
    }
  });
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& sums) { return checksum(sums.data(), sums.size() * 8); }

std::uint64_t header_sum(const cache_header& h) { return checksum(&h, offsetof(cache_header, sum)); }

void load_section(const input& file, const cache_header& h, int s, void* to) {
  const cache_section& section = h.section[s];
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(pieces_of(section.bytes)));
  for_each_piece(static_cast<char*>(to), section.bytes,
                 [&](char* p, std::uint64_t bytes, std::uint64_t from, index_t k) {
                   if (file.read_at(p, bytes, static_cast<index_t>(section.offset + from)) < bytes)
                     refuse(file.name(), "the cache is cut short");
                   sums[static_cast<std::size_t>(k)] = checksum(p, bytes);
                 });
  check_sums_of_section(file, h, section_of_cache(s), sums);
}

} // namespace

cache_header read_header_of_cache(const input& file) {
  cache_header h;
  if (file.read_at(reinterpret_cast<char*>(&h), sizeof h, 0) < sizeof h)
    refuse(file.name(), "the cache is cut short inside its header");
  if (std::memcmp(h.magic, cache_magic.data(), sizeof h.magic) != 0) refuse(file.name(), "no cache of Furrow");
  if (h.version != cache_version)
    refuse(file.name(), fmt::format("the cache has version {}, this program reads version {}: convert the matrix again",
                                    h.version, cache_version));
  if (h.sum != header_sum(h)) refuse(file.name(), "the cache is damaged: the checksum of its header does not match");
  constexpr std::int64_t side = std::numeric_limits<std::int32_t>::max(), most = std::int64_t(1) << 58;
  const bool sane = h.header_bytes == sizeof h && h.rows >= 0 && h.rows <= side && h.cols >= 0 && h.cols <= side &&
                    h.entries >= 0 && h.entries <= most && h.name_bytes >= 0 && h.name_bytes <= 1 << 20 &&
                    h.origin_bytes >= 0 && h.origin_bytes <= 1 << 20 && (h.has_b == 0 || h.has_b == 1);
  if (!sane) refuse(file.name(), "the cache is damaged: the sizes in its header make no sense");
  const std::int64_t wanted[5] = {h.name_bytes + h.origin_bytes, 4 * h.entries, 4 * h.entries, 8 * h.entries,
                                  h.has_b ? 8 * h.rows : 0};
  std::uint64_t end = sizeof h;
  for (int s = 0; s < 5; ++s) {
    const std::uint64_t begin = (end + cache_page - 1) / cache_page * cache_page;
    if (h.section[s].bytes != static_cast<std::uint64_t>(wanted[s]) || h.section[s].offset != begin)
      refuse(file.name(), "the cache is damaged: its sections are not where they must be");
    end = begin + h.section[s].bytes;
  }
  if (static_cast<std::uint64_t>(file.size()) != end)
    refuse(file.name(), fmt::format("the cache has {} bytes in place of {}", file.size(), end));
  return h;
}

std::string read_text_of_cache(const input& file, const cache_header& h) {
  std::string text(h.section[0].bytes, '\0');
  load_section(file, h, 0, text.data());
  return text;
}

index_t pieces_that_begin(std::uint64_t first, std::uint64_t last) {
  return first < last ? pieces_of(last) - pieces_of(first) : 0;
}

std::vector<std::uint64_t> read_part_of_section(const input& file, const cache_header& h, section_of_cache which,
                                                std::uint64_t first, std::uint64_t last, void* to) {
  const cache_section& section = h.section[static_cast<int>(which)];
  const auto read = [&](void* where, std::uint64_t from, std::uint64_t bytes) {
    if (file.read_at(static_cast<char*>(where), bytes, static_cast<index_t>(section.offset + from)) < bytes)
      refuse(file.name(), "the cache is cut short");
  };
  const std::uint64_t next = static_cast<std::uint64_t>(pieces_of(first)) * cache_piece; // the first that begins here
  char* const out = static_cast<char*>(to);
  if (first < std::min(next, last)) read(out, first, std::min(next, last) - first);
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(pieces_that_begin(first, last)));
  cpu::for_each_range(std::ssize(sums), 1, [&](index_t begin, index_t end) {
    std::vector<char> room;
    for (index_t k = begin; k < end; ++k) {
      const std::uint64_t from = next + static_cast<std::uint64_t>(k) * cache_piece;
      const std::uint64_t bytes = std::min(cache_piece, section.bytes - from);
      char* piece = out + (from - first);
      if (from + bytes > last) room.resize(bytes), piece = room.data();
      read(piece, from, bytes);
      sums[static_cast<std::size_t>(k)] = checksum(piece, bytes);
      if (from + bytes > last) std::memcpy(out + (from - first), piece, last - from);
    }
  });
  return sums;
}

void check_sums_of_section(const input& file, const cache_header& h, section_of_cache which,
                           const std::vector<std::uint64_t>& sums) {
  const int s = static_cast<int>(which);
  if (sum_of(sums) != h.section[s].sum)
    refuse(file.name(),
           fmt::format("the cache is damaged: the checksum of its {} section does not match", section_names[s]));
}

bool is_cache(std::string_view first_bytes) { return first_bytes.starts_with(cache_magic); }

matrix_header read_cache_header(const input& from) {
  const cache_header h = read_header_of_cache(from);
  matrix_header head;
  head.shape = {h.rows, h.cols};
  head.stored = h.entries;
  return head;
}

problem read_cache(const input& from) {
  const cache_header h = read_header_of_cache(from);
  const double wanted = 16.0 * static_cast<double>(h.entries) + (h.has_b ? 8.0 : 0.0) * static_cast<double>(h.rows);
  const auto free = static_cast<double>(available_host_memory());
  check(wanted <= free, fault::memory,
        "{}: reading {} entries needs {:.1f} GB of memory, of which {:.1f} GB can be had", from.name(), h.entries,
        wanted / 1e9, free / 1e9);
  problem p;
  const std::string text = read_text_of_cache(from, h);
  p.name = text.substr(0, static_cast<std::size_t>(h.name_bytes));
  p.origin = text.substr(static_cast<std::size_t>(h.name_bytes));
  p.a.shape = {h.rows, h.cols};
  p.a.row = host_array<std::int32_t>(h.entries);
  p.a.col = host_array<std::int32_t>(h.entries);
  p.a.val = host_array<double>(h.entries);
  load_section(from, h, 1, p.a.row.data());
  load_section(from, h, 2, p.a.col.data());
  load_section(from, h, 3, p.a.val.data());
  if (h.has_b) {
    p.b = host_array<double>(h.rows);
    load_section(from, h, 4, p.b->data());
  }
  if (const auto what = broken_promise(p.a.shape, p.a.row, p.a.col, p.a.nnz()); !what.empty())
    refuse(from.name(), "the cache is damaged: " + what);
  return p;
}

} // namespace io

void write_cache(const problem& p, const std::filesystem::path& file) {
  using namespace io;
  check_triplets(p.a);
  check(!p.b || p.b->size() == p.a.shape.rows, fault::usage,
        "the right-hand side has {} elements for a matrix of {} rows", p.b ? p.b->size() : 0, p.a.shape.rows);
  std::string text = p.name.substr(0, 1 << 20) + p.origin.substr(0, 1 << 20);
  cache_header h{};
  std::memcpy(h.magic, cache_magic.data(), sizeof h.magic);
  h.version = cache_version;
  h.header_bytes = sizeof h;
  h.rows = p.a.shape.rows, h.cols = p.a.shape.cols, h.entries = p.a.nnz();
  h.name_bytes = static_cast<std::int64_t>(std::min<std::size_t>(p.name.size(), 1 << 20));
  h.origin_bytes = static_cast<std::int64_t>(text.size()) - h.name_bytes;
  h.has_b = p.b.has_value();
  const void* const data[5] = {text.data(), p.a.row.data(), p.a.col.data(), p.a.val.data(),
                               p.b ? p.b->data() : nullptr};
  const std::size_t bytes[5] = {text.size(), p.a.row.byte_count(), p.a.col.byte_count(), p.a.val.byte_count(),
                                p.b ? p.b->byte_count() : 0};
  atomic_file out(file);
  std::uint64_t end = sizeof h;
  for (int s = 0; s < 5; ++s) {
    const std::uint64_t begin = (end + cache_page - 1) / cache_page * cache_page;
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(pieces_of(bytes[s])));
    for_each_piece(static_cast<char*>(const_cast<void*>(data[s])), bytes[s],
                   [&](char* piece, std::uint64_t n, std::uint64_t from, index_t k) {
                     sums[static_cast<std::size_t>(k)] = checksum(piece, n);
                     out.write_at(piece, n, static_cast<index_t>(begin + from));
                   });
    h.section[s] = {begin, bytes[s], sum_of(sums)};
    end = begin + bytes[s];
  }
  h.sum = header_sum(h);
  out.write_at(&h, sizeof h, 0);
  out.resize(static_cast<index_t>(end)); // the last section may be empty
  out.commit();
}

} // namespace furrow
