// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>

#include <fmt/format.h>

#include <utility>

namespace furrow {

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void throw_sentence(fault kind, fmt::format_string<Parts...> what,
                                                           Parts&&... parts) {
  throw error(kind, fmt::format(what, std::forward<Parts>(parts)...));
}

/// Throws `error(kind, fmt::format(what, parts...))` unless `ok`. The sentence is put together only where it is said:
/// it takes longer than a small product.
template <class... Parts>
requires(sizeof...(Parts) > 0)
    [[gnu::always_inline]] inline void check(bool ok, fault kind, fmt::format_string<Parts...> what, Parts&&... parts) {
  if (!ok) throw_sentence<Parts...>(kind, what, std::forward<Parts>(parts)...);
}

} // namespace furrow
