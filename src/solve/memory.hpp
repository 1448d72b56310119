// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"

/// What a solve takes, before it takes it.
namespace furrow {

/// The preconditioner that a solve begins with: the one that was named, or what stands for "auto" beside the solver.
std::string named_preconditioner(const solve_options& o);

/// What a solve asks of the choice of a format. On a GPU it counts on a thousand products where nothing else was said:
/// formats that the host has to make pay there after thousands.
wish wish_of(const solve_options& o);

/// With that choice, for triplets of precision p that are there, and for rows on the GPU of that many bytes.
memory_estimate estimate_memory(const choice& c, const stats& s, precision p, const solve_options& o,
                                double rows_on_gpu = 0);

/// A rung after the first, by `o.solver` and a preconditioner of that layout: A is stored, and its triplets are made
/// from it again.
memory_estimate estimate_next_memory(const choice& c, const stats& s, precision p, const solve_options& o,
                                     const preconditioner_layout& m, bool m_on_gpu);

/// What a solve in single precision takes for a system of doubles: their b and x, and both values for a moment.
memory_estimate beside_doubles(memory_estimate e, index_t rows, index_t nnz);

/// Throws `fault::memory` where more is needed than there is besides the triplets, b and x, which are there, and the
/// rows on the GPU.
void check_memory(const memory_estimate& needed, const stats& s, precision p, device where, double rows_on_gpu = 0);

} // namespace furrow
