// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/chebyshev/product.hpp>

namespace furrow::chebyshev {

std::string_view name_of(convention series) { return series == convention::plain ? "plain" : "primed"; }

std::string_view name_of(algorithm how) {
  switch (how) {
  case algorithm::automatic:
    return "auto";
  case algorithm::direct:
    return "direct";
  case algorithm::fft:
    return "fft";
  case algorithm::thread:
    return "thread";
  case algorithm::block:
    return "block";
  case algorithm::block_sweep:
    return "block_sweep";
  case algorithm::warp:
    return "warp";
  }
  return "";
}

std::string_view name_of(accuracy wanted) { return wanted == accuracy::componentwise ? "componentwise" : "normwise"; }

} // namespace furrow::chebyshev
