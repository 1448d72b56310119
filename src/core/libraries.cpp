// SPDX-License-Identifier: BSD-3-Clause
#include "libraries.hpp"

#include "backends/cpu/isa.hpp"

#include <archive.h>
#include <fmt/format.h>
#include <libdeflate.h>

namespace furrow {

std::vector<library> libraries() {
  const std::string archive = archive_version_string(); // "libarchive 3.6.2"
  return {
      {"libdeflate", LIBDEFLATE_VERSION_STRING, "gzip"},
      {"libarchive", archive.substr(archive.find(' ') + 1), "tar"},
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
