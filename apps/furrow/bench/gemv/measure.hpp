// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tune/steady.hpp"

#include <furrow/gemv.hpp>

#include <functional>
#include <string>
#include <vector>

namespace furrow::cli::gemv_bench {

/// What to measure, and how.
struct plan {
  device where;
  std::vector<shape2> shapes;
  std::vector<std::string> types, layouts, operations;
  endurance how;
  int turns = 1; ///< of each product and its rivals
  bool rivals = true;
  std::function<double(double bytes)> ceiling{}; ///< bytes a second at which as many bytes are read at best
  bool cold = false;                             ///< caches are flushed before every sample
};

/// Another library's time for the same product.
struct rival_time {
  std::string library;
  timing time;                ///< of its fastest turn
  std::vector<double> ratios; ///< of its time to ours, turn by turn

  /// The middle one of them: above 1 ours is faster.
  double ratio() const;
};

/// y = op(A) x of one shape, type, layout and operation.
struct product {
  shape2 shape;
  std::string type, layout, operation, kernel;
  double bytes = 0;           ///< A, x and y, each once
  double ceiling = 0;         ///< bytes a second at which as many bytes are read at best; NaN: not measured
  std::string_view lies_in{}; ///< the cache, or memory, that these bytes come from
  timing time;                ///< of the fastest turn
  std::vector<rival_time> rivals;

  double gbps() const { return 1e-9 * bytes / time.median; }
  double fraction() const { return 1e9 * gbps() / ceiling; }
};

/// Measures all of it and tells of each product as it is there. What needs more memory than there is is left out, with
/// a sentence to `skip`.
void measure(const plan& p, const std::function<void(const product&)>& done,
             const std::function<void(const std::string&)>& skip);

} // namespace furrow::cli::gemv_bench
