// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "core/counted.hpp"
#include "read_text.hpp"
#include "refuse.hpp"
#include "scan_number.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

/// The format .npy (numpy.lib.format): magic, version, the length of the header, the header, which is a literal of
/// Python such as {'descr': '<f8', 'fortran_order': False, 'shape': (3,), }, and the values.
namespace furrow::io {
namespace {

using std::string_view;

constexpr string_view magic = "\x93NUMPY";
constexpr std::size_t longest_header = 1 << 16;

/// What one value is: 'f' (binary floating point), 'i' or 'u' (integers) of `size` bytes.
struct element {
  char kind;
  int size;
  bool big_endian;

  double load(const char* p) const {
    std::uint64_t bits = 0;
    for (int k = 0; k < size; ++k) {
      const auto byte = static_cast<unsigned char>(p[big_endian ? size - 1 - k : k]);
      bits |= std::uint64_t(byte) << 8 * k;
    }
    if (kind == 'f') return size == 8 ? std::bit_cast<double>(bits) : std::bit_cast<float>(std::uint32_t(bits));
    if (kind == 'u') return static_cast<double>(bits);
    const int unused = 64 - 8 * size;
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  }
};

/// What stands behind 'KEY': in the header.
string_view behind_key(string_view header, const char* key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const std::size_t at = header.find(quoted);
    if (at == string_view::npos) continue;
    header.remove_prefix(at + quoted.size());
    header.remove_prefix(std::min(header.find_first_not_of(" :"), header.size()));
    return header;
  }
  return {};
}

element parse_type(string_view header, const std::string& name) {
  string_view type = behind_key(header, "descr");
  const bool quoted = type.starts_with('\'') || type.starts_with('"');
  if (quoted) type = type.substr(1, type.substr(1).find(type[0]));
  if (quoted && type.size() == 3 && string_view("<>=|").find(type[0]) != string_view::npos) {
    const element e{type[1], type[2] - '0', type[0] == '>'};
    const bool real = e.kind == 'f' && (e.size == 4 || e.size == 8);
    const bool whole = (e.kind == 'i' || e.kind == 'u') && (e.size == 1 || e.size == 2 || e.size == 4 || e.size == 8);
    if (real || whole) return e;
  }
  refuse(name, fmt::format("a NumPy array of type {}, where real numbers of 4 or 8 bytes or integers are wanted: "
                           "numpy.save(file, x.real.astype(float)) writes such",
                           quoted ? in_quotes(type) : "with fields"));
}

/// The rows and columns of a shape (n,) or (n, 1), or of (n, s) where `several` is true.
shape2 parse_shape(string_view header, const std::string& name, bool several) {
  string_view shape = behind_key(header, "shape");
  shape = shape.substr(0, shape.find(')'));
  std::vector<double> axes;
  bool good = shape.starts_with('(');
  for (std::size_t at = 1; good && at < shape.size();) {
    const std::size_t end = std::min(shape.find(',', at), shape.size());
    string_view word = shape.substr(at, end - at);
    while (word.starts_with(' ')) word.remove_prefix(1);
    while (word.ends_with(' ') || word.ends_with('L')) word.remove_suffix(1); // 3L, as Python 2 wrote
    double n = 0;
    if (!word.empty() || end < shape.size()) {
      good = read_integer(word, n) == number::good && n >= 0;
      axes.push_back(n);
    }
    at = end + 1;
  }
  if (!good) refuse(name, "the header of this NumPy array does not say its shape");
  if (axes.size() == 1) axes.push_back(1);
  if (axes.size() != 2 || !(axes[1] == 1 || (several && axes[1] >= 1)))
    refuse(name, several
                     ? fmt::format("vectors are the columns of two axes, this NumPy array has the shape {})", shape)
                     : fmt::format("a vector has one axis or one column, this NumPy array has the shape {})", shape));
  if (axes[0] * axes[1] > 0x1p53) refuse(name, fmt::format("a vector of {} elements is too long", axes[0] * axes[1]));
  return {static_cast<index_t>(axes[0]), static_cast<index_t>(axes[1])};
}

/// The header, with the stream at the first value. `length`: bytes up to there.
std::string read_header_of(byte_stream& in, const std::string& name, std::size_t& length) {
  const auto cut_short = [&] { refuse(name, "the NumPy array is cut short inside its header"); };
  unsigned char start[12];
  const auto take = [&](std::size_t from, std::size_t to) {
    if (in.read_all(reinterpret_cast<char*>(start) + from, to - from) < to - from) cut_short();
  };
  take(0, 10);
  const int version = start[6];
  if (version < 1 || version > 3)
    refuse(name, fmt::format("a NumPy array in version {} of its format: 1, 2 and 3 can be read", version));
  const std::size_t before = version > 1 ? 12 : 10; // the length has two bytes, or four
  take(10, before);
  std::size_t size = 0;
  for (std::size_t k = before; k > 8; --k) size = size << 8 | start[k - 1];
  if (size > longest_header) refuse(name, "the header of this NumPy array is longer than 64 KiB");
  std::string header(size, '\0');
  if (in.read_all(header.data(), size) < size) cut_short();
  length = before + size;
  return header;
}

} // namespace

bool is_numpy(string_view first_bytes) { return first_bytes.starts_with(magic); }

host_array<double> read_numpy(byte_stream& in, double bytes, const std::string& name, std::optional<index_t> rows,
                              index_t* columns, const number_sink* to) {
  std::size_t length = 0;
  const std::string header = read_header_of(in, name, length);
  const element type = parse_type(header, name);
  const shape2 shape = parse_shape(header, name, columns != nullptr);
  const bool by_rows = shape.cols > 1 && !behind_key(header, "fortran_order").starts_with("True");
  if (rows && shape.rows != *rows && shape.cols > 1)
    refuse(name, fmt::format("is a NumPy array of shape ({}, {}), but the matrix has {}{}", shape.rows, shape.cols,
                             counted(*rows, "row"), shape.cols == *rows ? ": give its transpose" : ""));
  check_size(shape.rows, rows, name);
  if (columns) *columns = shape.cols;
  const index_t n = shape.rows * shape.cols;
  const auto cut_short = [&](double values) {
    refuse(name, fmt::format("the NumPy array is cut short: {} values in place of {}", values, n));
  };
  const double there = (bytes - static_cast<double>(length)) / type.size;
  if (there < static_cast<double>(n)) cut_short(std::max(0.0, std::floor(there)));
  matrix_header head;
  head.layout = matrix_header::layout::array;
  head.shape = {n, 1}, head.stored = 0;
  if (shape.cols > 1) to = nullptr;
  if (!to) check_vector_memory(head, name);
  host_array<double> x(to ? 0 : n), batch_of_x(to ? index_t(1) << 16 : 0);
  std::vector<char> some(std::size_t(1) << 16); // a multiple of every size
  for (index_t i = 0; i < n;) {
    const index_t batch = std::min(n - i, static_cast<index_t>(some.size()) / type.size);
    const auto wanted = static_cast<std::size_t>(batch * type.size);
    if (in.read_all(some.data(), wanted) < wanted) cut_short(static_cast<double>(i));
    for (index_t k = 0; k < batch; ++k) {
      const index_t at = by_rows ? (i + k) % shape.cols * shape.rows + (i + k) / shape.cols : i + k;
      (to ? batch_of_x[k] : x[at]) = type.load(some.data() + k * type.size);
    }
    if (to) (*to)(i, {batch_of_x.data(), batch});
    i += batch;
  }
  if (in.read(some.data(), 1) > 0) refuse(name, fmt::format("something follows the {} values of the NumPy array", n));
  return x;
}

} // namespace furrow::io
