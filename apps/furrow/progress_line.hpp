// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <vector>

namespace furrow::cli {

/// One live line on stderr while a solver runs: iteration, residual, how many of the wanted digits are there, and the
/// time that is left if the residual keeps falling as it did over the second half of the run. Gone at the end.
class progress_line {
public:
  /// `goal`: the relative residual that ends the solve.
  progress_line(double goal, bool shown) : goal_(goal), shown_(shown) {}
  ~progress_line() { erase(); }
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(const progress& p);
  void erase();

private:
  double share_done() const;
  double seconds_left() const; ///< NaN where nobody can tell

  double goal_;
  bool shown_, drawn_ = false;
  double drawn_at_ = -1;
  std::vector<progress> seen_; ///< some hundred points, thinned as they grow
};

} // namespace furrow::cli
