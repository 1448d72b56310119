// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "dense.hpp"
#include "hierarchy.hpp"

#include <furrow/storage.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

/// The hierarchy of smoothed aggregation, whoever does the work: the host or a GPU.
namespace furrow::amg {

constexpr double first_theta = 0.08, share_of_equal_couplings = 0.5, least_shrinking = 1.25, most_blocks_a_row = 80;

/// The least and the largest entry of a diagonal; one that is missing or no number counts as 0.
struct diagonal_extremes {
  double least, largest;
  bool are_positive() const { return least > 0 && std::isfinite(largest); }
  /// A power of two that brings the largest near 1.
  double scale() const { return largest > 0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1; }
};

/// What makes a coupling strong on a level: 0.08, halved on each level; less where rows have many couplings, which when
/// they are all alike are 1 / (couplings of a row) each: half of that. Norms of blocks fall less with their number.
inline double theta_of(double entries, double rows, int block, std::size_t level) {
  const double usual = std::ldexp(first_theta, -static_cast<int>(level));
  const double couplings = entries / rows - 1;
  return block == 1 && couplings > 0 ? std::min(usual, share_of_equal_couplings / couplings) : usual;
}

/// What became of a hierarchy that was to get the numbers of other values of its matrix. failed: it has to be made from
/// the beginning by who made it, and is of no use until then. remade: it was, here, and may have other levels. renewed:
/// other numbers in the same arrays.
enum class renewal_outcome { failed, remade, renewed };

/// Of the nodes of a level, one of so many whose aggregates are in doubt is too many for them to be kept.
constexpr index_t most_doubtful = 10;

[[noreturn]] void refuse_indefinite(std::size_t level);
/// Of a matrix that is not symmetric.
[[noreturn]] void refuse_diagonal(std::size_t level);

/// Why a hierarchy ends.
std::string ends_dense(index_t rows);
std::string ends_without_shrinking(index_t rows);
std::string ends_uncoupled(index_t rows);

/// What the sentence about a hierarchy says of its kind, and of the choice of it.
struct spoken {
  std::string kind, shape, choice;
};
std::string sentence(const std::vector<multigrid_level>& levels, std::string_view reason, const spoken& words,
                     int degree, std::size_t bits);

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Levels until at most 512 rows are left, or one shrinks by less than 1.25. The kit holds the matrix of the level
/// under way:
/// shape(), entries()     of it
/// block()                unknowns of a node; coarse_block() of one of R A P
/// extremes()             of its diagonal
/// dense_inverse()        of all of it, in double; empty where it is not positive semidefinite
/// look()                 works out D^-1 and the bound of the spectrum of D^-1 A, which it gives
/// coarsen(theta, smooth) P, R = P' and R A P; false where the level would not shrink by `least_shrinking`
/// coarse()               the shape of R A P; coarse_entries() its entries
/// keep(level, scale)     gives a level A times the scale, D^-1 by it, P and R in its precision
/// keep_dense(t, scale)   the inverse in its precision
/// refuse(number)         says what a level that cannot be smoothed, or inverted, proves
/// steps()                of the smoother
/// go_down()              R A P is the matrix from here on
template <class W, template <class> class Array, class Kit> hierarchy<W, Array> build_levels(Kit& kit) {
  hierarchy<W, Array> h;
  h.steps = kit.steps();
  for (;;) {
    const double began = seconds_now();
    const std::size_t number = h.levels.size();
    const diagonal_extremes diagonal = kit.extremes();
    if (number == 0) h.scale = diagonal.scale();
    level<W, Array> l;
    l.a.shape = kit.shape();
    l.block = kit.block();
    const index_t rows = l.size(), entries = kit.entries();
    const bool small = rows <= most_dense_rows;
    if (small) {
      const auto inverse = kit.dense_inverse();
      if (!inverse) kit.refuse(number);
      h.coarsest = kit.template keep_dense<W>(*inverse, 1 / h.scale);
      h.reason = ends_dense(rows);
    } else {
      if (!diagonal.are_positive()) kit.refuse(number);
      l.lambda = kit.look();
      const double theta = theta_of(double(entries), double(rows), l.block, number);
      const bool shrinks = kit.coarsen(theta, true);
      if (shrinks && kit.coarse().rows > most_dense_rows &&
          double(kit.coarse_entries()) / double(kit.coarse().rows) / kit.coarse_block() > most_blocks_a_row)
        kit.coarsen(theta, false);
      if (!shrinks) h.reason = ends_without_shrinking(rows);
      kit.keep(l, h.scale);
    }
    const double bytes = byte_count(l.a) + byte_count(l.diagonals) + byte_count(l.p) + byte_count(l.r) +
                         double(l.inverse.byte_count() + (small ? h.coarsest.byte_count() : 0)) +
                         5.0 * sizeof(W) * double(rows);
    h.facts.push_back({rows, entries, bytes, seconds_now() - began});
    h.levels.push_back(std::move(l));
    if (h.levels.back().last()) return h;
    kit.go_down();
  }
}

} // namespace furrow::amg
