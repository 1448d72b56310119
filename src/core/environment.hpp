// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

namespace furrow {

/// A variable of the environment that Furrow listens to.
struct environment_variable {
  std::string_view name, values, about;
  std::string_view (*mistake)(std::string_view value) = nullptr; ///< empty where the value makes sense
};

/// All of them, those for tests and benchmarks last. `furrow help environment` prints this list.
std::span<const environment_variable> environment_variables();

/// The value of one of the list; empty where it is not set. Throws `fault::usage` where it makes no sense: "NAME=VALUE:
/// what".
std::string_view environment(std::string_view name);

/// What is wrong with its value; empty where nothing is, or where only the use of the value can tell.
std::string_view mistake_in(const environment_variable& v);

/// Throws as `environment` does for the first of all variables whose value makes no sense, used or not.
void check_environment();

} // namespace furrow
