// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_step.hpp"

#include <string>

namespace furrow::block_cg {

/// Throws `fault::memory` where so many columns at once take more bytes than can be had there.
void refuse_too_large(index_t columns, double takes, device where);
/// The sentence of a column that goes on alone.
std::string after_block(index_t iterations, const std::string& then);

/// Up to 16 columns in the memory of a GPU. `alone`: conjugate gradients there.
template <class V>
std::vector<solve_report> run_on_gpu_columns(const linear_system<V>& systems, index_t columns,
                                             const solve_options& options,
                                             solve_report (*alone)(const linear_system<V>&, const solve_options&));

} // namespace furrow::block_cg
