// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <filesystem>

namespace furrow::io {

/// Throws `fault::usage` for more of them, `what`, than the 32-bit integers of a PETSc file count.
void check_petsc_length(index_t n, const char* what, const std::filesystem::path& file);

} // namespace furrow::io
