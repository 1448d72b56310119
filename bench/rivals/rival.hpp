// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/device.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

/// Other libraries doing the same work, for benchmarks. The code of each lives in a translation unit of its own,
/// compiled for its best mode.
namespace furrow::bench {

/// Another library holding a matrix and two vectors of its device.
template <class V> struct rival {
  virtual ~rival() = default;
  virtual void product() = 0;              ///< y = A x; on the GPU enqueued on the current queue
  virtual double stored_bytes() const = 0; ///< of the matrix in its format
  /// Jacobi-preconditioned conjugate gradients from x = 0 for `iterations`; the seconds of one of them. 0: it has none.
  virtual double iteration_seconds(const V*, int /*iterations*/) { return 0; }
};

/// Takes the matrix over. x and y lie in the memory of the rival's device, belong to the caller and outlive the rival.
/// Throws `fault::input` where the rival's format does not serve the matrix.
template <class V> using make_rival = std::unique_ptr<rival<V>> (*)(const coo<V>& a, cview<V> x, view<V> y);

/// One way in which a library does a product.
struct rival_way {
  std::string_view name; ///< "csr_alg2"
  make_rival<double> f64 = nullptr;
  make_rival<float> f32 = nullptr;

  template <class V> make_rival<V> make() const {
    if constexpr (sizeof(V) == 8) return f64;
    else return f32;
  }
};

struct dense_ways;

/// A library as the benchmarks see it, whether it is there or not.
struct rival_library {
  std::string_view name;              ///< "cuSPARSE"
  device::kind where;                 ///< what it runs on
  std::string_view remedy;            ///< how to get it
  std::span<const rival_way> ways;    ///< of sparse products
  std::string (*version)() = nullptr; ///< null: this build is without it. Empty text: it was not found at run time

  const dense_ways* dense = nullptr; ///< its dense products

  bool present() const { return version && !version().empty(); }
};

/// All that have sparse products, in a fixed order.
std::span<const rival_library> rival_libraries();
/// All that have dense ones.
std::span<const rival_library> dense_libraries();
/// The way of that name ("csr_alg1") of a library; null where the library or the way is absent.
const rival_way* find_rival(std::string_view library, std::string_view way);

} // namespace furrow::bench
