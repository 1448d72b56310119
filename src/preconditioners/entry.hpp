// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/entry.hpp"

#include <furrow/solve.hpp>

namespace furrow {

/// What a solver needs of a matrix.
struct matrix_kind {
  bool symmetric = false, definite = false;
};

/// `asked`: what the solver needs M to be; a preconditioner that would not be it throws a `refusal`.
template <class V>
using make_preconditioner = std::unique_ptr<any_preconditioner<V>> (*)(const coo<V>& a, device where,
                                                                       matrix_kind asked);

/// A preconditioner as the rest of the library sees it. One per folder of src/preconditioners; the table is generated.
struct preconditioner_entry {
  std::string_view name, about;
  int vectors = 0; ///< vectors of n values that it keeps
  make_preconditioner<double> f64 = nullptr;
  make_preconditioner<float> f32 = nullptr;

  template <class V> make_preconditioner<V> make() const {
    if constexpr (sizeof(V) == 8) return f64;
    else return f32;
  }
};

std::span<const preconditioner_entry* const> preconditioner_entries();
const preconditioner_entry& find_preconditioner(std::string_view name);

/// A preconditioner or a solver met numbers that end the solve before it starts.
struct refusal {
  status why;
  std::string message;
};

} // namespace furrow
