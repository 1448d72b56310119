// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz_kit.hpp"

using namespace furrow;
using namespace furrow::fuzz;

/// A right-hand side: Matrix Market, plain numbers, or an array of NumPy.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static memory_file file;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("\x1F\x8B")) return -1; // another fuzzer's
  const std::string& name = file.put(bytes);
  const bool numpy = bytes.starts_with("\x93NUMPY");
  const auto wanted = io_test::read_vector_plainly(bytes);
  std::optional<index_t> rows;
  if (!numpy) rows = wanted ? static_cast<index_t>(wanted->size()) : 3;
  const auto got = outcome_of_all_scans(name, [&] {
    const host_array<double> x = read_vector(name, rows);
    return std::vector<double>(x.begin(), x.end());
  });
  if (numpy ? got && got->size() > size : !same(got, wanted)) fail("the plain reader disagrees");
  return 0;
}
