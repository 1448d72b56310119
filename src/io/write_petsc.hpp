// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <filesystem>

namespace furrow::io {

/// A vector as VecView writes it (petsc_layout.hpp). Throws as `write_vector`.
void write_petsc_vector(cview<double> x, const std::filesystem::path& file);

} // namespace furrow::io
