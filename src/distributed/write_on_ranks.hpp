// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "io/atomic_file.hpp"

#include <furrow/communicator.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace furrow {

/// How a rank other than the first opens the file that the first one has begun; as `part_of_atomic_file`.
using part_opener = std::function<std::unique_ptr<io::part_of_atomic_file>(
    const std::string& name, const std::filesystem::path& beside, bool apart)>;

/// `write_vector_on_ranks` with another way to open it.
std::string write_parts(communicator& c, cview<double> mine, const std::filesystem::path& file,
                        const part_opener& opens);

} // namespace furrow
