// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "moves.hpp"

#include "preconditioners/scaled.hpp"
#include "solvers/entry.hpp"

#include <furrow/solve.hpp>

#include <memory>
#include <string>
#include <utility>

/// `solve_options::scale` and `reorder`. Moving rows and columns changes no norm, so the whole system is moved, and is
/// stored, looked at and solved in its new order. Scales would change what the residual means: they stay inside M.
namespace furrow {

inline bool scales(const solve_options& o) { return o.scale != "none"; }
inline bool moves(const solve_options& o) { return o.reorder != "none" || o.scale == "matching"; }

/// Throws `fault::usage` for names that there are none of, and for methods and preconditioners that do not go with
/// them. `method` null: "auto".
void check_arranging(const solve_options& o, const solver_entry* method);

/// Throws `fault::usage` where anything is asked for. `who`: "ranks solve".
void refuse_arranging(const solve_options& o, std::string_view who);

/// What it takes beside the triplets, in bytes: until the system is arranged, and beside M while that is made.
double bytes_to_arrange(const solve_options& o, index_t rows, index_t entries, precision p);
double bytes_of_scaled_triplets(const solve_options& o, index_t rows, index_t entries, precision p);

template <class V> struct arranged_system {
  coo<V> a;
  system_moves moves;
  std::shared_ptr<const diagonal_scales<V>> scales; ///< of B; null: ones
  std::string about;
};

/// A, checked, square and finite, as `o` asks for it. `definite`: the method needs it to be. Throws a `refusal` in the
/// caller's numbers: `singular` where matching finds no diagonal, `breakdown` where the diagonal has a zero that
/// symmetric scaling would divide by; `fault::memory` before it takes what cannot be had. Serial. Cost: that of
/// `match_heavy_diagonal`, of `reverse_cuthill_mckee`, and a pass over the entries.
template <class V> arranged_system<V> arrange(const coo<V>& a, const solve_options& o, bool definite);

} // namespace furrow
