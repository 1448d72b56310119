// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "petsc_layout.hpp"
#include "read_text.hpp"
#include "refuse.hpp"

#include <furrow/assemble.hpp>
#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace furrow::io {
namespace {

constexpr const char* writes_such = "a PETSc of 32-bit integers and real scalars writes what can be read";

/// Numbers from a stream, one block after the other.
class petsc_stream {
public:
  petsc_stream(std::unique_ptr<byte_stream> in, double bytes, const std::string& name)
      : in_(std::move(in)), name_(name), left_(bytes) {}

  std::int32_t integer(const char* what) {
    char four[4];
    take(four, sizeof four, what);
    return petsc_int(four);
  }
  /// f(k, number k) for count numbers of T.
  template <class T, class F> void numbers(index_t count, const char* what, F f) {
    block_.resize(std::size_t(1) << 18);
    const auto most = static_cast<index_t>(block_.size() / sizeof(T));
    for (index_t k = 0; k < count;) {
      const index_t some = std::min(most, count - k);
      take(block_.data(), static_cast<std::size_t>(some) * sizeof(T), what);
      for (index_t j = 0; j < some; ++j) {
        const char* const at = block_.data() + static_cast<std::size_t>(j) * sizeof(T);
        if constexpr (sizeof(T) == 8) f(k + j, petsc_real(at));
        else f(k + j, petsc_int(at));
      }
      k += some;
    }
  }
  /// Bytes that may come still, or a bound.
  double left() const { return left_; }
  bool at_end() {
    char one;
    if (in_->read(&one, 1) == 0) return true;
    ahead_ = one;
    return false;
  }

private:
  void take(char* to, std::size_t wanted, const char* what) {
    std::size_t got = 0;
    if (ahead_ && wanted > 0) to[got++] = *ahead_, ahead_.reset();
    got += in_->read_all(to + got, wanted - got);
    left_ -= static_cast<double>(got);
    if (got < wanted) refuse(name_, fmt::format("the PETSc file is cut short inside {}", what));
  }

  std::unique_ptr<byte_stream> in_;
  const std::string& name_;
  double left_;
  std::vector<char> block_;
  std::optional<char> ahead_;
};

/// The class id, which says what follows.
std::int32_t read_class(petsc_stream& in, const std::string& name) {
  const std::int32_t id = in.integer("its first number");
  if (id == 0) refuse(name, fmt::format("a PETSc file with integers of 64 bits: {}", writes_such));
  if (id != petsc_matrix && id != petsc_vector)
    refuse(name, fmt::format("a PETSc file of the class {}, where {} is a matrix and {} a vector", id, petsc_matrix,
                             petsc_vector));
  return id;
}

/// Refuses numbers of another kind than double by the size that the file has then; `rest`: bytes behind the indices.
void check_room(const std::string& name, double rest, double values, bool exact, const char* what) {
  if (rest >= 8 * values) return;
  if (exact && rest == 4 * values && values > 0)
    refuse(name, fmt::format("{} of PETSc in single precision: {}", what, writes_such));
  refuse(name, fmt::format("the PETSc file is cut short: it has {} of {} values of {}",
                           std::max(0.0, std::floor(rest / 8)), values, what));
}

[[noreturn]] void refuse_complex(const std::string& name, const char* what) {
  refuse(name,
         fmt::format("{} of PETSc with as many bytes again behind its values: they are complex, and Furrow is real",
                     what));
}

/// What stands behind the last value that was wanted.
void check_ended(petsc_stream& in, const std::string& name, double values, bool exact, const char* what) {
  if (exact && in.left() == 8 * values && values > 0) refuse_complex(name, what);
  if (!in.at_end()) refuse(name, fmt::format("something follows {} in the PETSc file", what));
}

struct matrix_sizes {
  index_t rows = 0, cols = 0, entries = 0;
  bool dense = false;
};

matrix_sizes read_sizes(petsc_stream& in, const std::string& name, bool exact) {
  matrix_sizes s;
  s.rows = in.integer("its header"), s.cols = in.integer("its header"), s.entries = in.integer("its header");
  s.dense = s.entries == -1;
  if (s.rows < 0 || s.cols < 0 || s.entries < -1)
    refuse(name, fmt::format("the PETSc file has a matrix of {} x {} with {} entries", s.rows, s.cols, s.entries));
  if (s.dense) s.entries = s.rows * s.cols;
  if (double(s.entries) > double(s.rows) * double(s.cols) && (s.rows == 0 || s.cols == 0))
    refuse(name, fmt::format("a matrix of {} x {} cannot have {} entries", s.rows, s.cols, s.entries));
  const double indices = s.dense ? 0 : 4 * (double(s.rows) + double(s.entries));
  if (in.left() < indices) refuse(name, "the PETSc file is cut short: its columns do not fit");
  check_room(name, in.left() - indices, double(s.entries), exact, "a matrix");
  return s;
}

double bytes_of(const matrix_sizes& s) { return 16 * double(s.entries) + 4 * double(s.rows); }

coo<double> read_entries_of(petsc_stream& in, const matrix_sizes& s, const std::string& name) {
  const double wanted = bytes_of(s), free = double(available_host_memory());
  check(wanted <= free, fault::memory,
        "{}: reading {} entries needs {:.1f} GB of memory, of which {:.1f} GB can be had", name, s.entries,
        wanted / 1e9, free / 1e9);
  coo<double> a{{s.rows, s.cols},
                host_array<std::int32_t>(s.entries),
                host_array<std::int32_t>(s.entries),
                host_array<double>(s.entries)};
  bool sorted = true;
  if (s.dense) {
    for (index_t i = 0, k = 0; k < s.entries; ++i) // up to the last entry: rows without columns take no time
      for (index_t j = 0; j < s.cols; ++j, ++k)
        a.row[k] = static_cast<std::int32_t>(i), a.col[k] = static_cast<std::int32_t>(j);
  } else {
    index_t k = 0;
    in.numbers<std::int32_t>(s.rows, "the lengths of its rows", [&](index_t i, std::int32_t length) {
      if (length < 0 || length > s.entries - k)
        refuse(name, fmt::format("row {} of the PETSc matrix has {} entries, of {} in all, {} before it", i + 1, length,
                                 s.entries, k));
      std::fill_n(a.row.data() + k, length, static_cast<std::int32_t>(i));
      k += length;
    });
    if (k < s.entries)
      refuse(name, fmt::format("the rows of the PETSc matrix have {} entries, where its header says {}", k, s.entries));
    in.numbers<std::int32_t>(s.entries, "its columns", [&](index_t at, std::int32_t col) {
      if (col < 0 || col >= s.cols)
        refuse(name,
               fmt::format("entry {} of the PETSc matrix is in column {} of {}", at + 1, index_t(col) + 1, s.cols));
      a.col[at] = col;
      sorted = sorted && (at == 0 || a.row[at] != a.row[at - 1] || a.col[at - 1] < col);
    });
  }
  in.numbers<double>(s.entries, "its values", [&](index_t k, double v) { a.val[k] = v; });
  if (sorted) return a;
  return furrow::assemble(a.shape, std::span(a.row.data(), static_cast<std::size_t>(s.entries)),
                          std::span(a.col.data(), static_cast<std::size_t>(s.entries)),
                          std::span(a.val.data(), static_cast<std::size_t>(s.entries)));
}

/// Behind its class id.
host_array<double> read_elements(petsc_stream& in, const std::string& name, std::optional<index_t> rows, bool exact,
                                 const number_sink* to = nullptr) {
  const index_t n = in.integer("its header");
  if (n < 0) refuse(name, fmt::format("the PETSc file has a vector of {} elements", n));
  check_size(n, rows, name);
  check_room(name, in.left(), double(n), exact, "a vector");
  matrix_header head;
  head.layout = matrix_header::layout::array;
  head.shape = {n, 1};
  if (!to) check_vector_memory(head, name);
  constexpr index_t most = index_t(1) << 15;
  host_array<double> x(to ? std::min(n, most) : n);
  in.numbers<double>(n, "its values", [&](index_t k, double v) {
    x[to ? k % most : k] = v;
    if (to && (k % most == most - 1 || k + 1 == n)) (*to)(k - k % most, {x.data(), k % most + 1});
  });
  if (to) x = {};
  check_ended(in, name, double(n), exact, "a vector");
  return x;
}

} // namespace

problem read_petsc(input& from, packing packed) {
  const std::string& name = from.name();
  const bool exact = from.is_file() && packed == packing::none;
  petsc_stream in(unpacked(packed, from.open_for_good(), name), text_bound(from, packed), name);
  if (read_class(in, name) == petsc_vector) refuse(name, "a vector of PETSc, where a matrix is wanted");
  const matrix_sizes s = read_sizes(in, name, exact);
  problem p;
  p.a = read_entries_of(in, s, name);
  p.name = from.path().stem().string();
  p.origin = fmt::format("PETSc {}, {} stored entries", s.dense ? "dense" : "aij", s.entries);
  if (in.at_end()) return p;
  const double left = in.left();
  const std::int32_t next = in.integer("what follows a matrix");
  if (next != petsc_vector && exact && left == 8 * double(s.entries)) refuse_complex(name, "a matrix");
  if (next != petsc_vector) refuse(name, "something that is no right-hand side follows a matrix in the PETSc file");
  p.b = read_elements(in, name, s.rows, exact);
  return p;
}

matrix_header read_petsc_header(input& from, packing packed) {
  const std::string& name = from.name();
  petsc_stream in(unpacked(packed, from.open(), name), text_bound(from, packed), name);
  if (read_class(in, name) == petsc_vector) refuse(name, "a vector of PETSc, where a matrix is wanted");
  const matrix_sizes s = read_sizes(in, name, from.is_file() && packed == packing::none);
  matrix_header head;
  head.shape = {s.rows, s.cols};
  head.stored = s.entries;
  return head;
}

host_array<double> read_petsc_vector(input& from, packing packed, std::optional<index_t> rows, const number_sink* to) {
  const std::string& name = from.name();
  petsc_stream in(unpacked(packed, from.open_for_good(), name), text_bound(from, packed), name);
  if (read_class(in, name) == petsc_matrix) refuse(name, "a matrix of PETSc, where a vector is wanted");
  return read_elements(in, name, rows, from.is_file() && packed == packing::none, to);
}

} // namespace furrow::io
