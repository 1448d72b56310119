// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <vector>

namespace furrow {

/// Whether libmetis.so.5 can be loaded. Throws `fault::device`, with what to install, in `metis_parts` where not.
bool has_metis();

/// The part of each row, from 0 to parts - 1: the graph of A + A' without its diagonal is cut so that all parts have
/// about the same work, entries and `entries_of_a_row` a row, and few entries couple two parts. By METIS 5, recursive
/// bisection up to 8 parts and k-way above them, as its manual advises; the same parts for the same matrix and library.
/// `rows`, of a square matrix: at least one for each part. Takes 12 bytes an entry for A + A' and METIS's own memory,
/// some three times as much. Throws `fault::usage` for a graph of more than 2^31 - 1 edges, `fault::memory` where METIS
/// has none. G. Karypis, V. Kumar, A fast and high quality multilevel scheme for partitioning irregular graphs, 1998.
template <class V> std::vector<int> metis_parts(const coo<V>& a, int parts);

} // namespace furrow
