// SPDX-License-Identifier: BSD-3-Clause
#include "vector_format.hpp"

#include "ending.hpp"
#include "petsc_layout.hpp"
#include "write_petsc.hpp"

#include "core/check.hpp"
#include "core/printable.hpp"

#include <furrow/io.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace furrow {
namespace io {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Whether the name promises numbers and nothing else, one a line.
bool is_plain(const std::filesystem::path& file) {
  constexpr std::string_view endings[] = {".txt", ".csv", ".txt.gz", ".csv.gz"};
  return std::ranges::any_of(endings, [&](auto ending) { return has_ending(file.native(), ending); });
}

/// Version 1.0 of NumPy's file: ten bytes, a head of text filled up to a multiple of 64, the numbers as they are.
/// Several columns lie one behind the other, as Fortran has them.
std::string head_of_numpy(index_t size, index_t columns) {
  std::string head = columns == 1 ? fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({},), }}", size)
                                  : fmt::format("{{'descr': '<f8', 'fortran_order': True, 'shape': ({}, {}), }}",
                                                size / columns, columns);
  constexpr std::size_t before = 10, line = 64;
  head.resize((before + head.size() + line) / line * line - before - 1, ' ');
  head += '\n';
  std::string all("\x93NUMPY\x01\x00", 8);
  all += static_cast<char>(head.size() & 255);
  all += static_cast<char>(head.size() >> 8);
  return all + head;
}

std::string head_of_petsc(index_t size) {
  std::string head(2 * sizeof(std::int32_t), '\0');
  put_petsc(head.data(), petsc_vector);
  put_petsc(head.data() + sizeof(std::int32_t), static_cast<std::int32_t>(size));
  return head;
}

} // namespace

bool is_packed(const std::filesystem::path& file) {
  const std::string name = file.filename().string();
  for (const char* ending : {".tar", ".tar.gz", ".tgz", ".bz2", ".xz", ".zst"})
    check(!has_ending(name, ending), fault::usage, "{}: {} is read, but not written; .mtx and .mtx.gz are",
          printable(file.string()), ending);
  return has_ending(name, ".gz");
}

vector_format::vector_format(const std::filesystem::path& file, index_t size, index_t count) : size_(size) {
  const bool plain = is_plain(file), of_petsc = has_ending(file.native(), ".petsc");
  check(count == 1 || !(plain || of_petsc), fault::usage, "{}: {} vectors go to .mtx, .mtx.gz or .npy",
        printable(file.string()), count);
  std::string head;
  if (has_ending(file.native(), ".npy")) {
    kind_ = binary;
    head = head_of_numpy(size, count);
  } else if (of_petsc) {
    kind_ = petsc;
    check_petsc_length(size, "elements", file);
    head = head_of_petsc(size);
  } else {
    packed_ = is_packed(file);
    if (!plain) head = fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", size / count, count);
  }
  if (!head.empty() || (packed_ && size == 0)) put_head(head); // gzip asks for a member, of nothing too
}

vector_format::vector_format(std::string_view head, index_t size) : kind_(binary), size_(size) { put_head(head); }

void vector_format::put_head(std::string_view head) {
  head_.end(std::ranges::copy(head, head_.begin(head.size())).out);
  if (packed_) head_.pack();
}

void vector_format::put(cview<double> numbers, text_piece& to) const {
  const auto count = static_cast<std::size_t>(numbers.size);
  char* p = to.begin(count * (kind_ == text ? longest_value : sizeof(double)));
  switch (kind_) {
  case text:
    for (const double v : numbers) {
      p = io::put(p, v);
      *p++ = '\n';
    }
    break;
  case binary:
    if (count > 0) std::memcpy(p, numbers.data, count * sizeof(double));
    p += count * sizeof(double);
    break;
  case petsc:
    for (const double v : numbers) {
      put_petsc(p, v);
      p += sizeof(double);
    }
    break;
  }
  to.end(p);
}

} // namespace io

void write_vector(cview<double> x, const std::filesystem::path& file) { write_vectors(x, 1, file); }

void write_vectors(cview<double> x, index_t count, const std::filesystem::path& file) {
  using namespace io;
  check(x.size >= 0 && (x.data || x.empty()), fault::usage, "a vector of {} elements points nowhere", x.size);
  check(count >= 1 && x.size % count == 0, fault::usage, "{} elements are not {} vectors of one length", x.size, count);
  const vector_format format(file, x.size, count);
  atomic_file out(file);
  out.write(format.head());
  write_pieces(out, format.pieces(), format.packed(), [&](index_t piece, text_piece& to) {
    const index_t first = piece * vector_format::piece_numbers;
    format.put({x.data + first, std::min(vector_format::piece_numbers, x.size - first)}, to);
  });
  out.commit();
}

} // namespace furrow
