// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entry.hpp"
#include "matrix/permute.hpp"
#include "matrix/triangular.hpp"

#include <string>
#include <string_view>

namespace furrow {

/// Most sweeps a factor: what takes more than these is solved with exactly.
inline constexpr index_t most_sweeps = 100;

/// Triangular factors I + L and I + U behind rows and columns that are moved and scaled, as `arrangement` says for M's
/// input and output: an empty `row` moves nothing, empty scales scale nothing.
template <class V> struct unit_factors {
  row_matrix<V> lower, upper; ///< L and U, strictly triangular
  arrangement moved;
  std::string about;
};

/// M r = C Q' p(U) p(L) Q R r with p(N) = I - N + N^2 - ... + (-N)^K: K Jacobi sweeps x <- b - N x from x = b, in place
/// of the exact (I + N)^-1, which K = levels - 1 gives. A fixed linear map; where U is L' and C is R, M is symmetric
/// and positive definite, for p(L) is unit triangular.
///
/// A sweep is a product with b along, in the format that `auto` takes for each factor on `where`: no levels, no waits
/// between rows. An application reads both factors K times, three vectors for each of these products, and makes two
/// passes over r and z; it takes no memory, and keeps three vectors, two where K is 1. One application at a time. The
/// same bits on every run, and on the CPU for any number of threads.
///
/// Away from normal factors powers of N grow before they vanish: how far from exact solves K sweeps end is measured
/// once, by 2 K + 2 readings of the factors on the host, and is a part of `describe()`. Throws a `refusal` with
/// status::breakdown, naming `who`, where that is more than 1e8 or no number; `fault::memory` before it takes what
/// cannot be had.
/// H. Anzt, E. Chow, J. Dongarra, Iterative sparse triangular solves for preconditioning, Euro-Par 2015.
template <class V>
std::unique_ptr<any_preconditioner<V>> make_swept(unit_factors<V> f, index_t sweeps, std::string_view who,
                                                  device where);

/// |z_K - z| / |z|, where z = (I + U)^-1 (I + L)^-1 s, z_K has K sweeps in place of each solve, s are the sizes of the
/// rows of I + L + U with hashed signs, and |z| is the largest |z_j| times the size of column j: the scales of rows of
/// A change nothing, those of its columns little.
template <class V> double distance_from_exact(row_view<V> lower, row_view<V> upper, index_t sweeps);

/// What swept factors of `entries` entries need, of a matrix of n rows: beside what making them takes.
preconditioner_layout layout_of_swept(double n, precision p, double entries);

} // namespace furrow
