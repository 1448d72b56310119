// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

namespace furrow::kit {

/// Whether the format, in its own choice of parameters, takes the matrix.
template <class V> bool serves(const format_entry& f, const coo<V>& a) {
  return f.lay_out(measure(a), precision_of<V>, {}).refusal.empty();
}

} // namespace furrow::kit
