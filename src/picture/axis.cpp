// SPDX-License-Identifier: BSD-3-Clause
#include "axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::picture {
namespace {

/// 1, 2 or 5 times a power of ten, so that about `wanted` of them fill `span`.
double round_step(double span, int wanted) {
  const double rough = span / std::max(wanted, 1), power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * power * 1.0001) return factor * power;
  return 10 * power;
}

} // namespace

bool axis::takes(double value) const { return std::isfinite(value) && (kind == scale::linear || value > 0); }

axis axis::fitted(const std::vector<double>& values) const {
  axis a = *this;
  if (low < high) return a;
  bool any = false;
  for (const double v : values) {
    if (!takes(v)) continue;
    a.low = any ? std::min(a.low, v) : v;
    a.high = any ? std::max(a.high, v) : v;
    any = true;
  }
  if (kind == scale::logarithmic) {
    if (!any) a.low = a.high = 1;
    // Down and up to 1, 2 or 5 times a power of ten.
    const auto rounded = [](double v, bool up) {
      const double power = std::pow(10, std::floor(std::log10(v)));
      double found = up ? 10 * power : power;
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (up && factor * power >= v) return factor * power;
        if (!up && factor * power <= v) found = factor * power;
      }
      return found;
    };
    a.low = rounded(a.low, false);
    a.high = rounded(a.high, true);
    if (a.low == a.high) a.high *= 10;
    return a;
  }
  a.low = any ? std::min(a.low, 0.0) : 0;
  a.high = any ? std::max(a.high, 0.0) : 1;
  if (a.low == a.high) a.high = a.low + 1;
  const double step = round_step(a.high - a.low, 5);
  a.low = step * std::floor(a.low / step);
  a.high = step * std::ceil(a.high / step);
  return a;
}

double axis::place(double value) const {
  if (kind == scale::linear) return (value - low) / (high - low);
  return std::log(value / low) / std::log(high / low);
}

std::vector<double> axis::ticks(int wanted) const {
  std::vector<double> found;
  const double slack = 1e-9;
  if (kind == scale::linear) {
    const double step = whole ? std::max(1.0, round_step(high - low, wanted)) : round_step(high - low, wanted);
    for (double k = std::ceil(low / step - slack); k * step <= high + slack * step; ++k) found.push_back(k * step);
    return found;
  }
  const double decades = std::log10(high / low);
  const int every = std::max(1, static_cast<int>(std::ceil(decades / wanted)));
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high * (1 + slack); power++)
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double v = factor * std::pow(10, power);
      const bool shown = factor == 1 ? power % every == 0 : decades * 3 <= wanted + 2;
      if (shown && v >= low * (1 - slack) && v <= high * (1 + slack)) found.push_back(v);
    }
  return found;
}

std::string short_text(double value) {
  const std::string text = fmt::format("{:.4g}", value);
  return text == "-0" ? "0" : text;
}

} // namespace furrow::picture
