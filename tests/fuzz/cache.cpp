// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz_kit.hpp"
#include "io/cache_layout.hpp"
#include "io/checksum.hpp"

using namespace furrow;
using namespace furrow::fuzz;

namespace {

/// Makes all checksums right, as no fuzzer would guess them. Sections of one piece only.
void mend(std::string& bytes) {
  io::cache_header h;
  std::memcpy(&h, bytes.data(), sizeof h);
  std::memcpy(h.magic, io::cache_magic.data(), sizeof h.magic);
  h.version = io::cache_version;
  for (io::cache_section& s : h.section) {
    if (s.offset > bytes.size() || s.bytes > bytes.size() - s.offset) continue;
    const std::uint64_t sum = io::checksum(bytes.data() + s.offset, s.bytes);
    s.sum = io::checksum(&sum, s.bytes > 0 ? sizeof sum : 0);
  }
  h.sum = io::checksum(&h, offsetof(io::cache_header, sum));
  std::memcpy(bytes.data(), &h, sizeof h);
}

} // namespace

/// The binary cache.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static memory_file file;
  static const io_test::folder here;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size < sizeof(io::cache_header)) return -1;
  mend(bytes);
  const std::string& name = file.put(bytes);
  problem p;
  const auto got = outcome(name, [&] {
    p = read_matrix(name);
    return plain(p.a);
  });
  if (!got) return 0;
  check_entries(*got);
  write_cache(p, here / "again.furrow");
  const problem again = read_matrix(here / "again.furrow");
  if (!same(plain(again.a), *got) || again.name != p.name || again.origin != p.origin) fail("does not come back");
  return 0;
}
