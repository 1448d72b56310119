// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/io.hpp>

#include <nlohmann/json.hpp>

namespace furrow::cli {

using json = nlohmann::ordered_json;

/// A number for JSON, which knows neither NaN nor infinity: those become null.
json number(double value);

/// Writes a text, complete or not at all.
void write_file(const std::filesystem::path& file, std::string_view text);

/// One object and a line end; on one line unless `indent` says otherwise. Names that are no UTF-8 get U+FFFD.
std::string json_text(const json& value, int indent = -1);

/// Whether what is printed would follow what is written there: `-`, or a name of standard output.
bool is_standard_output(const std::string& file);

/// ".mtx" (also of `-`, and of a pipe or a device without an ending), ".mtx.gz", ".furrow" or ".petsc"; throws
/// `fault::usage` for other endings.
std::string matrix_ending(const std::string& file);

/// Writes p as the ending of `file` says: .mtx, .mtx.gz, .furrow or .petsc. A right-hand side goes into a .furrow or
/// .petsc file, and beside a .mtx file as NAME_b.mtx, which must not be `input`.
void write_problem(const problem& p, const std::string& file, const std::string& input = {});

} // namespace furrow::cli
