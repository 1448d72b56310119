// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_file.hpp"

#include "atomic_file.hpp"
#include "core/check.hpp"
#include "core/printable.hpp"
#include "refuse.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string_view>

namespace furrow {
namespace {

using namespace io;

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic{"\x89"
                                 "FURCKP\n",
                                 8};
constexpr std::uint32_t this_version = 1;

/// The file is this, and behind it x: binary64 a column of A.
struct checkpoint_header {
  char magic[8];
  std::uint32_t version, header_bytes;
  std::int64_t rows, cols, entries;
  std::uint64_t matrix, rhs;
  std::int64_t iterations;
  double seconds, relative_residual;
  char solver[64], precond[64]; ///< filled up with zeros, the last one always is
  std::uint64_t x_sum;          ///< `checksum` of x
  std::uint64_t sum;            ///< of what stands before it
};
static_assert(sizeof(checkpoint_header) == 224);

std::uint64_t sum_of(const checkpoint_header& h) { return checksum(&h, offsetof(checkpoint_header, sum)); }

void put(std::string_view name, char (&to)[64]) {
  std::copy_n(name.begin(), std::min<std::size_t>(name.size(), 63), to);
}

checkpoint_header load_header(const input& file) {
  checkpoint_header h;
  if (!file.is_file())
    refuse(file.name(), "is empty, or a pipe: a checkpoint is read from the file that --checkpoint wrote");
  const std::size_t got = file.read_at(reinterpret_cast<char*>(&h), sizeof h, 0);
  if (got < sizeof h.magic || std::memcmp(h.magic, magic.data(), sizeof h.magic) != 0)
    refuse(file.name(), "is no checkpoint of Furrow");
  if (got < sizeof h) refuse(file.name(), "the checkpoint is cut short inside its header");
  if (h.version != this_version)
    refuse(file.name(),
           fmt::format("the checkpoint has version {}, this program reads version {}", h.version, this_version));
  if (h.sum != sum_of(h)) refuse(file.name(), "the checkpoint is damaged: the checksum of its header does not match");
  constexpr std::int64_t side = std::numeric_limits<std::int32_t>::max();
  if (h.header_bytes != sizeof h || h.rows < 0 || h.rows > side || h.cols < 0 || h.cols > side || h.entries < 0 ||
      h.iterations < 0 || h.solver[63] != '\0' || h.precond[63] != '\0')
    refuse(file.name(), "the checkpoint is damaged: what its header says makes no sense");
  const std::int64_t wanted = static_cast<std::int64_t>(sizeof h) + 8 * h.cols;
  if (file.size() != wanted)
    refuse(file.name(), fmt::format("the checkpoint has {} bytes in place of {}", file.size(), wanted));
  return h;
}

} // namespace

std::string io::head_of_checkpoint(const checkpoint& now, const checksum_of_words& of_x) {
  check(now.iterations >= 0 && now.seconds >= 0 && std::isfinite(now.seconds), fault::usage,
        "a checkpoint after {} iterations and {} seconds: give numbers of 0 or more", now.iterations, now.seconds);
  check(now.system.rows >= 0 && now.system.entries >= 0, fault::usage,
        "a checkpoint of a matrix of {} rows and {} entries: give numbers of 0 or more", now.system.rows,
        now.system.entries);
  checkpoint_header h{};
  std::memcpy(h.magic, magic.data(), sizeof h.magic);
  h.version = this_version, h.header_bytes = sizeof h;
  h.rows = now.system.rows, h.cols = now.system.cols, h.entries = now.system.entries;
  h.matrix = now.system.matrix, h.rhs = now.system.rhs;
  h.iterations = now.iterations, h.seconds = now.seconds, h.relative_residual = now.relative_residual;
  put(now.solver, h.solver), put(now.precond, h.precond);
  h.x_sum = of_x.sum();
  h.sum = sum_of(h);
  return {reinterpret_cast<const char*>(&h), sizeof h};
}

bool io::is_checkpoint(std::string_view first) { return first.starts_with(magic); }

void io::refuse_to_replace(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::exists(file, none)) return;
  check(std::filesystem::is_regular_file(file, none), fault::usage,
        "{}: is no file that can be replaced, as a checkpoint is: choose another name for it",
        printable(file.string()));
  if (std::filesystem::file_size(file, none) == 0) return;
  const input old(file);
  char begin[magic.size()] = {};
  const std::size_t got = old.read_at(begin, sizeof begin, 0);
  if (!is_checkpoint({begin, got}))
    refuse(old.name(), "is there and is no checkpoint of Furrow, which would replace it: choose another name for the "
                       "checkpoint, or remove the file");
}

io::checkpoint_reader::checkpoint_reader(const input& from) : from_(from) {
  const checkpoint_header h = load_header(from);
  head_ = {{h.rows, h.cols, h.entries, h.matrix, h.rhs},
           h.solver,
           h.precond,
           h.iterations,
           h.seconds,
           h.relative_residual,
           {}};
  sum_ = h.x_sum, at_ = sizeof h;
}

void io::checkpoint_reader::read(view<double> next) {
  const auto bytes = 8 * static_cast<std::size_t>(next.size);
  if (from_.read_at(reinterpret_cast<char*>(next.data), bytes, at_) < bytes)
    refuse(from_.name(), "the checkpoint is cut short");
  of_x_.add(next.data, static_cast<std::uint64_t>(next.size));
  at_ += static_cast<index_t>(bytes);
}

void io::checkpoint_reader::check_sum() const {
  if (of_x_.sum() != sum_) refuse(from_.name(), "the checkpoint is damaged: the checksum of its x does not match");
}

void write_checkpoint(const checkpoint& now, cview<double> x, const std::filesystem::path& file) {
  check(x.size == now.system.cols, fault::usage, "x has {} elements for a matrix of {} columns", x.size,
        now.system.cols);
  check(x.data || x.empty(), fault::usage, "x points nowhere, but has {} elements", x.size);
  checksum_of_words of_x;
  of_x.add(x.data, static_cast<std::uint64_t>(x.size));
  atomic_file out(file);
  out.write(head_of_checkpoint(now, of_x));
  out.write(x.data, 8 * static_cast<std::size_t>(x.size));
  out.commit();
}

checkpoint read_checkpoint(const std::filesystem::path& file) {
  const input from(file);
  return read_unchanged(from, [&] {
    checkpoint_reader reader(from);
    checkpoint saved = reader.head();
    const double wanted = 8 * double(saved.system.cols), free = double(available_host_memory());
    check(wanted <= free, fault::memory, "{}: its x needs {:.1f} GB of memory, of which {:.1f} GB can be had",
          from.name(), wanted / 1e9, free / 1e9);
    saved.x = host_array<double>(saved.system.cols);
    reader.read(as_view(saved.x));
    reader.check_sum();
    return saved;
  });
}

} // namespace furrow
