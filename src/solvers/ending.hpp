// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "messages.hpp"

#include <furrow/solve.hpp>

#include <functional>

namespace furrow {

/// An end to which a solver gives a name; the sentence is put together when the residual of the answer is known.
struct ending {
  status why = status::max_iterations;
  std::function<std::string(const solver_messages::standing&)> sentence;
};

} // namespace furrow
