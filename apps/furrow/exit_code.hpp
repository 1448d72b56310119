// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/solve.hpp>

namespace furrow::cli {

/// What the program answers to its caller.
enum exit_code { done = 0, stopped_short = 1, usage = 2, bad_input = 3, no_resource = 4, broken = 5, interrupt = 130 };

constexpr exit_code code_of(fault f) {
  switch (f) {
  case fault::usage:
    return usage;
  case fault::input:
    return bad_input;
  case fault::memory:
  case fault::device:
    return no_resource;
  case fault::internal:
    break;
  }
  return broken;
}

/// A least-squares answer is what a rectangular system is solved for, and less than was asked for of a square one.
constexpr exit_code code_of(status s, bool square) {
  if (s == status::converged || (s == status::least_squares && !square)) return done;
  return s == status::interrupted ? interrupt : stopped_short;
}

} // namespace furrow::cli
