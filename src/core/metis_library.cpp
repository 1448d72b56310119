// SPDX-License-Identifier: BSD-3-Clause
#include "metis_library.hpp"

#include "late_library.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace furrow {
namespace {

std::mutex& turn_of_metis() {
  static std::mutex one;
  return one;
}

/// Defaults fill 40 numbers: how far they reach tells their width.
bool has_32_bits(metis_library::set_defaults defaults) {
  constexpr int count = metis_library::option_count;
  std::array<std::int32_t, 2 * count> options{};
  return defaults(options.data()) == metis_library::ok && options[count - 1] != 0 &&
         std::all_of(options.begin() + count, options.end(), [](std::int32_t o) { return o == 0; });
}

} // namespace

const metis_search& find_metis() {
  static metis_library library;
  static const metis_search once = [] {
    metis_search s;
    const late_library from = open_late({metis_library::file}, {});
    if (s.why = from.why; !from.handle) return s;
    metis_library l;
    const bool whole = from.has("METIS_PartGraphRecursive", l.recursive) && from.has("METIS_PartGraphKway", l.k_way) &&
                       from.has("METIS_NodeND", l.order) && from.has("METIS_ComputeVertexSeparator", l.separate) &&
                       from.has("METIS_SetDefaultOptions", l.defaults);
    if (!whole) s.why = "cannot be used (it lacks functions)";
    else if (!has_32_bits(l.defaults)) s.why = "cannot be used (its integers have 64 bits)";
    else library = l, s.found = &library;
    return s;
  }();
  return once;
}

metis_turn::metis_turn() : turn_(turn_of_metis()), before_(::initstate(1, numbers_, sizeof numbers_)) {
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, &blocked_before_);
  sigaction(SIGABRT, nullptr, &on_abort_);
  sigaction(SIGTERM, nullptr, &on_term_);
}

metis_turn::~metis_turn() {
  sigaction(SIGABRT, &on_abort_, nullptr);
  sigaction(SIGTERM, &on_term_, nullptr);
  ::setstate(before_);
  pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

} // namespace furrow
