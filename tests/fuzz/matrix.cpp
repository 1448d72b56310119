// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz_kit.hpp"

#include <fmt/format.h>

using namespace furrow;
using namespace furrow::fuzz;

namespace {

/// Lines among usual ones, in a text long enough for the reader that takes eight lines at a time; kind 0 to 2.
std::string among_others(int kind, std::string_view lines) {
  static constexpr const char* kinds[] = {"real", "integer", "pattern"};
  static constexpr const char* values[] = {" -1234567.8901234567e-12", " 123456789", ""};
  const auto some = [&](int count) {
    std::string out;
    for (int k = 0; k < count; ++k) out += fmt::format("{} {}{}\n", 12345678 - k, 87654321 - 7 * k, values[kind]);
    return out;
  };
  int entries = 0;
  for (std::size_t at = 0; at < lines.size(); at = std::min(lines.find('\n', at), lines.size() - 1) + 1)
    entries += lines.substr(at, lines.find('\n', at) - at).find_first_not_of(" \t\r\v\f") != std::string_view::npos;
  return fmt::format("%%MatrixMarket matrix coordinate {} general\n87654321 87654321 {}\n", kinds[kind],
                     3 + entries + 260) +
         some(3) + std::string(lines) + "\n" + some(260);
}

} // namespace

/// A Matrix Market matrix; or, where the first byte is 0, 1 or 2, lines of a real, integer or pattern matrix.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static memory_file file;
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("\x1F\x8B")) return -1; // another fuzzer's
  if (size > 0 && data[0] < 3) text = among_others(data[0], std::string_view(text).substr(1));
  const std::string& name = file.put(text);
  const auto got = outcome_of_all_scans(name, [&] { return plain(read_matrix(name).a); });
  if (!same(got, io_test::read_plainly(text))) fail("the plain reader disagrees");
  return 0;
}
