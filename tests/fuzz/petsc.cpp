// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz_kit.hpp"

using namespace furrow;
using namespace furrow::fuzz;

/// A binary file of PETSc: a matrix, with or without a right-hand side, or a vector.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static memory_file file;
  static const io_test::folder here;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!bytes.starts_with(std::string("\0\x12\x7B", 3))) return -1;
  const std::string& name = file.put(bytes);
  const auto x = outcome(name, [&] {
    const host_array<double> read = read_vector(name);
    return std::vector<double>(read.begin(), read.end());
  });
  if (x && 8 * x->size() + 8 != size) fail("a vector of another length than its file");
  problem p;
  const auto got = outcome(name, [&] {
    p = read_matrix(name);
    return plain(p.a);
  });
  if (!got) return 0;
  check_entries(*got);
  // A dense one has as many rows without columns as it likes in 16 bytes; written as aij each of them takes 4.
  if (got->rows > 1 << 20) return 0;
  write_petsc(p, here / "again.petsc");
  const problem again = read_matrix(here / "again.petsc");
  if (!same(plain(again.a), *got) || again.b.has_value() != p.b.has_value()) fail("does not come back");
  return 0;
}
