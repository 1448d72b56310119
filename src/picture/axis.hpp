// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

namespace furrow::picture {

enum class scale { linear, logarithmic };

/// One axis of a chart. Where low == high, the range is that of the data, widened to round numbers; a linear one then
/// includes 0.
struct axis {
  std::string label;
  scale kind = scale::linear;
  double low = 0, high = 0;
  bool whole = false; ///< ticks at whole numbers only

  /// Whether a value has a place on it: finite, and positive where the scale is logarithmic.
  bool takes(double value) const;
  /// The same axis with a range: its own, or one that holds these values.
  axis fitted(const std::vector<double>& values) const;
  /// 0 at `low`, 1 at `high`; beyond where the value is.
  double place(double value) const;
  /// Values to write beside it, ascending, between low and high: about `wanted` of them.
  std::vector<double> ticks(int wanted) const;
};

/// A number in few letters: "0.25", "1500", "2e+06".
std::string short_text(double value);

} // namespace furrow::picture
