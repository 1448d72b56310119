// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "io/io_test_kit.hpp"
#include "io/parse_lines.hpp"

#include <furrow/device.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

/// What the fuzzers of src/io share. A fuzzer ends with abort() where a reader is wrong; libFuzzer keeps the input.
namespace furrow::fuzz {

using io_test::entry;
using io_test::plain_matrix;

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "WRONG: %s\n", what.c_str());
  std::abort();
}

/// A file in memory, which others open by its name.
class memory_file {
public:
  memory_file() : descriptor_(::memfd_create("input", 0)), name_("/proc/self/fd/" + std::to_string(descriptor_)) {
    set_threads(1); // the inputs are small, and fuzzers run side by side
  }
  const std::string& name() const { return name_; }
  const std::string& put(std::string_view bytes) {
    const bool good = ::ftruncate(descriptor_, 0) == 0 &&
                      ::pwrite(descriptor_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    if (!good) fail("the input cannot be written to memory");
    return name_;
  }

private:
  int descriptor_;
  std::string name_;
};

inline bool same(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) || (std::isnan(x) && std::isnan(y));
}
inline bool same(const std::vector<double>& x, const std::vector<double>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](double v, double w) { return same(v, w); });
}
inline bool same(const plain_matrix& a, const plain_matrix& b) {
  return a.rows == b.rows && a.cols == b.cols &&
         std::equal(
             a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
             [](const entry& x, const entry& y) { return x.row == y.row && x.col == y.col && same(x.val, y.val); });
}
template <class T> bool same(const std::optional<T>& x, const std::optional<T>& y) {
  return x.has_value() == y.has_value() && (!x || same(*x, *y));
}

/// What read() returns; empty where it refuses, which it must do in one sentence that begins with the name of the file.
template <class F> auto outcome(const std::string& name, F read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const error& wrong) {
    const std::string what = wrong.what();
    if (wrong.kind != fault::input && wrong.kind != fault::memory) fail(what);
    if (!what.starts_with(name) || what.find('\n') != std::string::npos) fail("no sentence about the file: " + what);
    return {};
  }
}

/// The same by every way to scan lines that this processor has; all must agree.
template <class F> auto outcome_of_all_scans(const std::string& name, F read) {
  const auto with = [&](io::line_scan scan) {
    const io::scanning_at_most limit(scan);
    return outcome(name, read);
  };
  const auto first = with(io::line_scan::by_number);
  for (const auto scan : {io::line_scan::by_line, io::line_scan::by_eight})
    if (scan <= io::fastest_scan() && !same(with(scan), first)) fail("the ways to scan lines disagree");
  return first;
}

inline plain_matrix plain(const coo<double>& a) { return {a.shape.rows, a.shape.cols, io_test::list(a)}; }

/// Entries lie in the matrix, sorted, no place twice.
inline void check_entries(const plain_matrix& a) {
  for (std::size_t k = 0; k < a.entries.size(); ++k) {
    const auto& e = a.entries[k];
    if (e.row < 0 || e.row >= a.rows || e.col < 0 || e.col >= a.cols) fail("an entry outside the matrix");
    if (k > 0 && !(std::pair(a.entries[k - 1].row, a.entries[k - 1].col) < std::pair(e.row, e.col)))
      fail("entries that are not sorted");
  }
}

} // namespace furrow::fuzz
