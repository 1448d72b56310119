// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"
#include "preconditioners/entry.hpp"

namespace furrow::amg {

/// What cg needs of A and of M.
inline constexpr solver_needs cg_needs{{true, true}, {true, true}};

inline auto rows_of(const coo<double>& a) { return to_rows(coo<double>(a)); }

} // namespace furrow::amg
