// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/device.hpp>

#include <optional>

/// Products of Chebyshev series.
namespace furrow::chebyshev {

/// How coefficients are written. plain: sum a_k T_k (numpy, Chebfun). primed: a_0/2 + sum_{k>=1} a_k T_k.
enum class convention { plain, primed };

/// direct: the sums as they stand. fft: by values at Chebyshev points. thread, block, warp: the sums on a GPU with one
/// thread, a block of 256 or a warp for each coefficient; on the CPU they are `direct`.
enum class algorithm { automatic, direct, fft, thread, block, warp };

/// What `automatic` must keep to. componentwise: |error in c_k| <= gamma_m (|a| * |b|)_k, small coefficients keep their
/// digits; this leaves the direct sums only. normwise: errors are small beside ||a|| ||b||; allows the FFT.
enum class accuracy { componentwise, normwise };

struct product_options {
  convention series = convention::plain;
  std::optional<index_t> keep; ///< coefficients wanted, 0 where the product has none; default all na + nb - 1
  algorithm how = algorithm::automatic;
  accuracy wanted = accuracy::componentwise;
  device where; ///< the CPU unless said otherwise
};

/// The coefficients of a times b, lowest degree first.
///
/// plain: c_k = 1/2 [sum_{i+j=k} a_i b_j + sum_{|i-j|=k} a_i b_j]; primed: the same series, its first coefficient
/// doubled. a and b are in host memory, of any lengths from 1 on; a result has exactly `keep` coefficients, or all.
/// Errors: `fault::usage` for an empty factor or keep < 1, `fault::input` for a coefficient that is not finite,
/// `fault::memory` before allocating what cannot be had.
template <class V> host_array<V> multiply(cview<V> a, cview<V> b, const product_options& options = {});

} // namespace furrow::chebyshev
