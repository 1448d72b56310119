// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows_of_rank.hpp"

#include "solve/features.hpp"

namespace furrow {

/// The features of a matrix whose rows the ranks have, the same on all of them, by which the ladder is chosen as for
/// one rank. Diagonals are counted up to 28, more than a grid's. All ranks call it; a pass over the rank's entries.
template <class V> features features_on_ranks(communicator& c, const rows_of_rank<V>& a, bool symmetric);

} // namespace furrow
