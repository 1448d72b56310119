// SPDX-License-Identifier: BSD-3-Clause
#include "libraries.hpp"

#include "backends/cpu/isa.hpp"

#include <bzlib.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

namespace furrow {

std::vector<library> libraries() {
  const std::string bzip2 = BZ2_bzlibVersion(); // "1.0.8, 13-Jul-2019"
  return {
      {"oneTBB", cpu::tbb_version(), "threads"},
      {"libdeflate", LIBDEFLATE_VERSION_STRING, "writes gzip"},
      {"zlib", zlibVersion(), "reads gzip"},
      {"bzip2", bzip2.substr(0, bzip2.find(',')), "reads bzip2"},
      {"liblzma", lzma_version_string(), "reads xz"},
      {"libzstd", ZSTD_versionString(), "reads zstd"},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100), "text"},
  };
}

std::string instruction_set() {
  switch (cpu::machine_isa()) {
  case cpu::isa::avx512:
    return "avx512";
  case cpu::isa::avx2:
    return "avx2";
  case cpu::isa::baseline:
    break;
  }
  return "baseline";
}

} // namespace furrow
