// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/device.hpp>

#include <memory>
#include <optional>
#include <string_view>

/// Products of Chebyshev series.
namespace furrow::chebyshev {

/// How coefficients are written. plain: sum a_k T_k (numpy, Chebfun). primed: a_0/2 + sum_{k>=1} a_k T_k.
enum class convention { plain, primed };

/// direct: the sums as they stand. fft: by values at Chebyshev points. thread, block, block_sweep, warp: the sums on a
/// GPU with one thread, a block or a warp for each coefficient; on the CPU they are refused. The shares of a block are
/// added up by shuffles, or in shared memory alone (block_sweep).
enum class algorithm { automatic, direct, fft, thread, block, block_sweep, warp };

/// What `automatic` must keep to. componentwise: small coefficients keep their digits; only the sums do that.
/// normwise: errors are small beside ||a|| ||b||; allows the FFT.
enum class accuracy { componentwise, normwise };

struct product_options {
  convention series = convention::plain;
  std::optional<index_t> keep = {}; ///< coefficients wanted, 0 where the product has none; default all na + nb - 1
  algorithm how = algorithm::automatic;
  accuracy wanted = accuracy::componentwise;
  device where = {}; ///< the CPU unless said otherwise
  int block = 0;     ///< threads a block of thread, block, block_sweep or warp, from 32 to 1024; 0: 256
};

/// The coefficients of a times b, lowest degree first.
///
/// plain: c_k = 1/2 [sum_{i+j=k} a_i b_j + sum_{|i-j|=k} a_i b_j]; primed: the same with a_0, b_0 halved and c_0
/// doubled. a and b are in host memory, of any lengths from 1 on; the result has exactly `keep` coefficients, or all.
///
/// Cost of na = nb = n: direct 2 n^2 multiply-adds (1.5 n^2 for keep = n), fft one and a half transforms of 2 n (1.5 n)
/// points; on the CPU the tables of the last few lengths of transforms are kept from call to call.
///
/// Errors, u the unit roundoff of V, m = 2 min(na, nb) terms at most:
///   sums  |error in c_k| <= gamma_m (|a| * |b|)_k, gamma_m = m u / (1 - m u), (|a| * |b|) the product of |a_i|, |b_i|;
///   fft   |error in c_k| <= u |c_k| [f32 only] + K v (|a|_1 |b|_2 + |a|_2 |b|_1), v = 2^-53, K = 4 log2(M) + 16, M the
///         points; the transforms are in double for f32 too. Coefficients below K v |a| |b| have no correct digit then.
/// and, of coefficients that are subnormal or have subnormal terms, m times the least number more; `error_bound` says
/// the numbers. A coefficient beyond the range of V is an infinity of its sign, never a NaN; the others keep to the
/// bound, also where their terms leave the range.
///
/// The same bits for every number of threads, and on every run on one device. Throws `fault::usage` for an empty
/// factor, keep < 1 or an algorithm that the device lacks, `fault::input` for a coefficient that is not finite,
/// `fault::memory` before allocating what cannot be had.
/// Source of the transform: Makhoul, A fast cosine transform in one and two dimensions (1980).
template <class V> host_array<V> multiply(cview<V> a, cview<V> b, const product_options& options = {});

/// `count` series; series s begins at data + s * stride. A batch of one series serves any number of partners.
template <class V> struct batch {
  V* data = nullptr;
  index_t count = 1, stride = 0;
};

/// Products of one shape, again and again: na by nb coefficients, `count` products at a time. Everything that depends
/// on the shape alone (algorithm, tables, memory) is made once.
template <class V> class product_plan {
public:
  product_plan(index_t na, index_t nb, index_t count, const product_options& options = {});
  product_plan(product_plan&&) noexcept;
  product_plan& operator=(product_plan&&) noexcept;
  ~product_plan();

  /// c_s <- a_s b_s, in the memory of options.where; on a GPU it only enqueues. a and b hold one series or `count`; c
  /// may not share memory with them, nor one product with another. Throws `fault::usage` for those that do, for memory
  /// that is missing and for other counts; a plan that was moved from throws it everywhere. Coefficients that are not
  /// finite give results that are not, with `fft` all of that product's. On a GPU the sums give infinities and NaNs
  /// also where only their terms leave the range of double; `multiply` works these out anew.
  void multiply(batch<const V> a, batch<const V> b, batch<V> c);

  /// Keeps a (in the memory of options.where) for `multiply_fixed`; `fft` transforms it once and then needs 2/3 (CPU:
  /// half) of the transforms.
  void fix(const V* a);
  /// c_s <- a b_s, for the a of the last `fix`. Throws as `multiply`, and where there was none.
  void multiply_fixed(batch<const V> b, batch<V> c);

  index_t size() const;        ///< coefficients of a product: keep, or na + nb - 1
  algorithm how() const;       ///< what runs: never `automatic`
  index_t transform() const;   ///< points of its transforms; 0 where it makes none
  double memory_bytes() const; ///< what the plan holds

  struct engine; ///< an algorithm on a device
private:
  std::unique_ptr<engine> engine_;
};

/// The bound above on the largest error of a coefficient that is finite, of the product of these factors by `how`; what
/// the sums of `componentwise` promise for the worst coefficient. Throws `fault::input` as `multiply`.
template <class V> double error_bound(cview<V> a, cview<V> b, const product_options& options, algorithm how);

/// "plain", "direct", ...
std::string_view name_of(convention series);
std::string_view name_of(algorithm how);
std::string_view name_of(accuracy wanted);

} // namespace furrow::chebyshev
