// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <span>
#include <string_view>

namespace furrow {

/// A variable of the environment that Furrow listens to.
struct environment_variable {
  std::string_view name, values, about;
};

/// All of them, those for tests and benchmarks last. `furrow help environment` prints this list.
std::span<const environment_variable> environment_variables();

/// The value of one of the list; empty where it is not set.
std::string_view environment(std::string_view name);

/// Throws `fault::usage`: "NAME=VALUE: what".
[[noreturn]] void refuse_environment(std::string_view name, std::string_view what);

} // namespace furrow
