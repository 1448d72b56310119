// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stdexcept>
#include <string>

namespace furrow {

/// What a failure is about. The command line turns it into its exit code.
enum class fault {
  usage,    ///< a name, an option or an argument that does not exist or does not fit
  input,    ///< a file or a matrix that cannot be accepted
  memory,   ///< more memory than there is
  device,   ///< a device that is missing or failed
  internal, ///< a broken promise inside Furrow
};

/// The one exception of the library. `what()` is a sentence for the person who made the call.
struct error : std::runtime_error {
  fault kind;
  error(fault kind, const std::string& what) : std::runtime_error(what), kind(kind) {}
};

/// Throws `error(kind, what)` unless `ok`. For what a caller can get wrong. The sentence is a literal: one that has to
/// be put together costs more than much of what is checked.
inline void check(bool ok, fault kind, const char* what) {
  if (!ok) throw error(kind, what);
}

/// Throws `error(fault::internal, "file:line: what")` unless `ok`. For what only Furrow itself can get wrong.
/// (<source_location> would say the same, but not to every compiler that has C++20's concepts.)
inline void require(bool ok, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (!ok) throw error(fault::internal, std::string(file) + ":" + std::to_string(line) + ": " + what);
}

} // namespace furrow
