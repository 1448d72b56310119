// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hooks.hpp"

#include <furrow/checkpoint.hpp>

#include <optional>
#include <string>

namespace furrow::python {

/// Who writes the checkpoints of one solve, and tells Python once where one cannot be written.
struct kept_x {
  checkpoint_keeper keeper;
  nb::object warn; ///< called with a sentence
  std::optional<std::string> failed{};
  bool told = false;
  std::function<bool(const progress&, cview<double>)> monitor{};

  kept_x(std::string file, double every, checkpoint from, nb::object warn);
  kept_x(const kept_x&) = delete;

  bool keep(hooks& h, const progress& p, cview<double> x) {
    monitor(p, x);
    return goes_on(h);
  }
  /// What `warn` raises ends the solve.
  bool goes_on(hooks& h) {
    return !wants_to_tell() || h.hear([&] {
      tell();
      return true;
    });
  }
  bool wants_to_tell() const { return failed && !told; }
  /// With the interpreter's lock held.
  void tell() {
    told = true;
    warn(nb::str(failed->c_str(), failed->size()));
  }
};

} // namespace furrow::python
