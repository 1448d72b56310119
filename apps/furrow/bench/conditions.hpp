// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "output.hpp"

#include "rivals/rival.hpp"

#include <furrow/device.hpp>

#include <string>

namespace furrow::cli {

/// The libraries that a benchmark compares with.
using rivals = std::span<const bench::rival_library>;

/// What a benchmark was run under, as its JSON begins: device, driver, threads, versions and the commit.
json conditions(device where, rivals all = bench::rival_libraries());

/// "Eigen 3.4.0, MKL 2025.0": the rivals of that device that are there, or "none".
std::string present_rivals(device where, rivals all = bench::rival_libraries());
/// One line on those that are not, with the remedy; empty where all are there.
std::string absent_rivals(device where, rivals all = bench::rival_libraries());

/// The folder of -o, made where it does not exist. Throws `fault::input` where it cannot be one.
void make_folder(const std::string& folder);
/// Writes FOLDER/name, complete or not at all.
void write_into(const std::string& folder, const std::string& name, const std::string& text);

} // namespace furrow::cli
