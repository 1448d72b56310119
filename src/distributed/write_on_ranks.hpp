// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "io/atomic_file.hpp"

#include <furrow/communicator.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace furrow {

/// How a rank other than the first opens the file that the first one has begun; as `part_of_atomic_file`.
using part_opener = std::function<std::unique_ptr<io::part_of_atomic_file>(
    const std::string& name, const std::filesystem::path& beside, bool apart)>;

part_opener usual_opener();

/// Writes the parts of a vector as numbers of 8 bytes behind `head`, as `write_vector_on_ranks` writes: whole or not at
/// all. `head` and `file`: rank 0's. All ranks call it; throws the same on all of them.
std::string write_parts_behind(communicator& c, std::string_view head, cview<double> mine,
                               const std::filesystem::path& file, const part_opener& opens);

/// `write_vector_on_ranks` with another way to open it.
std::string write_parts(communicator& c, cview<double> mine, const std::filesystem::path& file,
                        const part_opener& opens);

} // namespace furrow
