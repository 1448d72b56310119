// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/view.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>

namespace furrow {

/// A number that lives beside the vectors, always in double. Sweeps and dots write it, coefficients read it, and only
/// `space.read` brings it home.
struct slot {
  double* at = nullptr;
};

/// y <- alpha A x + beta y, enqueued on the space that owns x and y. **beta == 0 never reads y; alpha == 0 never reads
/// A or x.** x and y must not overlap.
template <class A, class V>
concept linear_operator = requires(const A& a, V factor, cview<V> x, view<V> y, slot xy) {
  { a.shape() } -> std::same_as<shape2>;
  a.apply(factor, x, factor, y);
  a.apply_dot(x, y, xy); // y = A x and xy = x . y in the same pass; square operators only
};

/// The one virtual seam: a format, kernel or device picked from data. x and y lie in the memory of that device. A NaN or
/// infinity in x shows in all rows with an entry there; formats that multiply padding show it in more: docs/kernels.md.
template <class V> struct any_operator {
  virtual ~any_operator() = default;
  virtual shape2 shape() const = 0;
  virtual void apply(V alpha, cview<V> x, V beta, view<V> y) const = 0;
  virtual void apply_dot(cview<V> x, view<V> y, slot xy) const = 0;
  /// Bytes that `apply(1, x, 0, y)` must move: the stored matrix, x and y, each once.
  virtual double bytes_per_apply() const = 0;
  /// Bytes that the stored matrix takes.
  virtual double stored_bytes() const = 0;
  /// Name of the kernel that runs, e.g. "vector".
  virtual std::string kernel() const = 0;
  /// The matrix as triplets in host memory, which take their own; empty where the operator has none. Zeros that the
  /// format stores may be missing.
  virtual std::optional<coo<V>> to_triplets() const { return std::nullopt; }
};

/// z = M r for a fixed M. A preconditioner that is a diagonal matrix offers its entries, so that a solver can apply it
/// inside a pass that it makes anyway.
template <class V> struct any_preconditioner {
  virtual ~any_preconditioner() = default;
  virtual void apply(cview<V> r, view<V> z) const = 0;
  /// What M is, for a solver that treats special cases specially.
  enum class kind { identity, diagonal, general };
  virtual kind what() const { return kind::general; }
  virtual cview<V> diagonal() const { return {}; } ///< entries of a `kind::diagonal`
  virtual double stored_bytes() const = 0;
};

} // namespace furrow
