// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz_kit.hpp"

using namespace furrow;
using namespace furrow::fuzz;

/// A gzip file; or, where the input does not begin like one, a text that is packed here, in as many members as its
/// first byte says.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static memory_file file;
  if (size == 0) return -1;
  std::string packed(reinterpret_cast<const char*>(data), size), text;
  const bool raw = packed.starts_with("\x1F\x8B");
  if (!raw) {
    text = packed.substr(1);
    packed.clear();
    const std::size_t members = 1 + data[0] % 4;
    for (std::size_t k = 0; k < members; ++k) {
      const std::size_t from = text.size() * k / members;
      packed += io_test::gzip(text.substr(from, text.size() * (k + 1) / members - from));
    }
  }
  const std::string& name = file.put(packed);
  const auto got = outcome_of_all_scans(name, [&] { return plain(read_matrix(name).a); });
  if (raw) { // zlib checks more of the headers than libdeflate does
    if (!got) return 0;
    const auto all = io_test::gunzip(packed, std::size_t(1) << 24);
    if (!all) fail("a damaged gzip file was accepted");
    text = *all;
  }
  if (text.size() >= 512 && text.find("ustar") != std::string::npos) return 0; // perhaps an archive
  if (!same(got, io_test::read_plainly(text))) fail("the plain reader disagrees");
  return 0;
}
