// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/solve.hpp>

namespace furrow {

std::string_view name(status s) {
  switch (s) {
  case status::converged:
    return "converged";
  case status::max_iterations:
    return "max_iterations";
  case status::not_positive_definite:
    return "not_positive_definite";
  case status::singular:
    return "singular";
  case status::breakdown:
    return "breakdown";
  case status::nan:
    return "nan";
  case status::stagnated:
    return "stagnated";
  case status::diverged:
    return "diverged";
  case status::interrupted:
    return "interrupted";
  case status::least_squares:
    return "least_squares";
  }
  return "unknown";
}

} // namespace furrow
