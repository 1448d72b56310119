// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/view.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// What a product takes along in its pass over A, a closed list: y <- A x, or y <- b - A x where there is a b; and
/// either a sum of the finished y with a vector or those of y with two vectors, which go to slots in double.
template <class V> struct epilogue {
  struct dot {
    cview<V> u;   ///< `rows` elements: any vector, x or y itself too, but no part of y
    slot to = {}; ///< y . u; no slot, no sum
  };
  /// The Gram matrix of y, u and w but for w . w.
  struct gram {
    enum place : int { yy, yu, yw, uu, uw, count };
    cview<V> u, w; ///< `rows` elements each: any vectors, x too, but nothing of y
    slot to = {};  ///< y . y, y . u, y . w, u . u and u . w, side by side from here on; no slot, no sums
  };
  cview<V> b = {}; ///< without elements: none. y itself, or nothing of it
  dot one = {};
  gram all = {};
  /// How many sums.
  int count() const { return all.to.at ? int(gram::count) : one.to.at ? 1 : 0; }
};

/// Throws `fault::usage` for an epilogue whose vectors do not fit y, or cross it.
template <class V> void check_epilogue(const epilogue<V>& e, view<V> y);

/// The sentence of `check_vectors`.
template <class V> [[noreturn]] void refuse_vectors(shape2 a, cview<V> x, view<V> y);

/// Throws `fault::usage` unless x has an element a column of A, y one a row, and each memory of its own.
template <class V> void check_vectors(shape2 a, cview<V> x, view<V> y) {
  const bool sized = x.size == a.cols && y.size == a.rows, there = (x.data || x.empty()) && (y.data || y.empty());
  if (!sized || !there || overlap(x, y)) refuse_vectors(a, x, y);
}

/// Throws `fault::usage` unless X has `count` elements a column of A, Y as many a row, and each memory of its own.
template <class V> void check_block(shape2 a, cview<V> x, view<V> y, index_t count);

/// The one virtual seam: a format, a kernel or a device picked from data becomes one of these.
/// x and y lie in the memory of the device that the operator was made for. `apply`, `apply_dot` and `apply_with` check
/// the vectors, then call `do_apply`, `do_apply_dot` and `do_apply_with`, of which formats implement the first two, and
/// the third where they save passes by it. A NaN or infinity in x shows in all rows with an entry there; formats that
/// multiply padding show it in more: docs/kernels.md.
template <class V> struct any_operator {
  virtual ~any_operator() = default;
  virtual shape2 shape() const = 0;

  /// y <- alpha A x + beta y, see `linear_operator`. Throws `fault::usage` for vectors whose sizes do not fit or that
  /// share memory.
  void apply(V alpha, cview<V> x, V beta, view<V> y) const {
    check_vectors(shape(), x, y);
    do_apply(alpha, x, beta, y);
  }
  /// y <- A x and xy <- x . y. Throws as `apply`, and for a matrix that is not square.
  void apply_dot(cview<V> x, view<V> y, slot xy) const {
    const shape2 a = shape();
    check(a.rows == a.cols, fault::usage, "x . y with y = A x needs a square matrix");
    check(xy.at != nullptr, fault::usage, "x . y needs a slot to go to");
    check_vectors(a, x, y);
    do_apply_dot(x, y, xy);
  }
  /// y <- A x, or b - A x, and sums over y: see `epilogue`. One pass over A, x and y, and over b and each of u and w
  /// that is neither x nor y, where the kernel takes them along: all formats but `dense`, on a GPU but `coo`, and `hyb`
  /// where it has a rest. Other operators make a pass of each (`do_apply_with`). The bits of y are those of `apply`,
  /// with b those of a copy and `apply`(-1, x, 1, y). The sums add up in the order of the rows' pieces, as that of
  /// `apply_dot`, which has the same bits; one of a space's `dot` has another order. The same bits on every run and for
  /// every number of threads. Throws as `apply`, and as `check_epilogue`.
  void apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const {
    check_vectors(shape(), x, y);
    check_epilogue(e, y);
    do_apply_with(x, y, e);
  }
  /// y <- A x and yu <- y . u.
  void apply_dot(cview<V> x, view<V> y, cview<V> u, slot yu) const { apply_with(x, y, {{}, {u, yu}}); }
  /// y <- A x, and y . y, y . u, y . w, u . u and u . w to five slots from `first` on.
  void apply_gram(cview<V> x, view<V> y, cview<V> u, cview<V> w, slot first) const {
    apply_with(x, y, {{}, {}, {u, w, first}});
  }
  /// r <- b - A x and rr <- r . r; no slot, no sum. r may be b. Throws as `apply_with`, and for a b that is missing.
  void residual(cview<V> b, cview<V> x, view<V> r, slot rr) const {
    check(b.data || r.empty(), fault::usage, "b points nowhere: give it an element for each row");
    apply_with(x, r, {b, {r, rr}});
  }
  /// r <- b - A x where the matrix lies, with sums in at least twice the digits of V, rounded once, and returns its
  /// norm; empty, and nothing done, where the operator cannot. r may be b. One pass over A, b, x and r, and a wait.
  /// Throws as `residual`.
  std::optional<double> exact_residual(cview<V> b, cview<V> x, view<V> r) const {
    check_vectors(shape(), x, r);
    check(b.data || r.empty(), fault::usage, "b points nowhere: give it an element for each row");
    check_epilogue({b}, r);
    return do_exact_residual(b, x, r);
  }
  /// Y <- A X for `count` vectors at once, row by row: element i of vector k lies at [i count + k]. The same bits for
  /// every number of threads, not those of `apply`. Throws `fault::usage` as `apply`, and on a GPU where A
  /// does not `multiplies_blocks`, or for another count.
  void apply_block(cview<V> x, view<V> y, index_t count) const {
    check_block(shape(), x, y, count);
    do_apply_block(x, y, count);
  }
  /// Whether `apply_block` reads A once for 2, 4, 8 or 16 vectors: csr, bcsr, dia, sell, packed and stencil, on a
  /// GPU ell too.
  /// Otherwise, and for other numbers, one vector follows the other, copied there and back.
  virtual bool multiplies_blocks() const { return false; }
  /// Where the matrix lies, and the vectors must.
  virtual device where() const { return {}; }
  /// Bytes that `apply(1, x, 0, y)` must move: the stored matrix, x and y, each once.
  virtual double bytes_per_apply() const = 0;
  /// Bytes that the stored matrix takes.
  virtual double stored_bytes() const = 0;
  /// Name of the kernel that runs, e.g. "vector".
  virtual std::string kernel() const = 0;
  /// The matrix as triplets in host memory, which take their own; empty where the operator has none. Zeros that the
  /// format stores may be missing.
  virtual std::optional<coo<V>> to_triplets() const { return std::nullopt; }

protected:
  /// The products, for vectors that fit.
  virtual void do_apply(V alpha, cview<V> x, V beta, view<V> y) const = 0;
  virtual void do_apply_dot(cview<V> x, view<V> y, slot xy) const = 0;
  virtual void do_apply_block(cview<V> x, view<V> y, index_t count) const;
  virtual std::optional<double> do_exact_residual(cview<V> /*b*/, cview<V> /*x*/, view<V> /*r*/) const {
    return std::nullopt;
  }
  /// By default a product, with x . y where that is the first sum and there is no b, and a pass each for b and the
  /// sums.
  virtual void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const;
};

/// Estimates of what A does to errors, by one that has factored it; 0: not known.
struct condition_numbers {
  double norm_1 = 0; ///< |A|_1 |A^-1|_1
  double skeel = 0;  ///< | |A^-1| |A| |_inf, the least that scaling rows makes of the condition number
};

/// A part of a set-up, such as "upload" or "precond", and how long it took.
struct setup_part {
  std::string what;
  double seconds = 0;
};

/// A level of a multigrid hierarchy: its matrix, what it takes with its way to the next level, and its set-up.
struct multigrid_level {
  index_t rows = 0, entries = 0;
  double bytes = 0, seconds = 0;
  std::vector<setup_part> parts{}; ///< of `seconds`, on the first rank, where ranks have a GPU each; else empty
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
  /// Whether `apply` waits, or calls what cannot be recorded: the host calls it in every step then.
  virtual bool waits() const { return false; }
  /// Of A where M is its inverse up to rounding.
  virtual condition_numbers condition() const { return {}; }
  virtual double stored_bytes() const = 0;
  /// What it did to the matrix, as a sentence for people: an order, a shift. May be empty.
  virtual std::string describe() const { return {}; }
  /// Of a multigrid hierarchy, the finest first.
  virtual std::vector<multigrid_level> levels() const { return {}; }
};

} // namespace furrow
