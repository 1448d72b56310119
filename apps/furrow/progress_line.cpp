// SPDX-License-Identifier: BSD-3-Clause
#include "progress_line.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/counted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow::cli {
namespace {

std::string bar(double share, int width) {
  const bool fine = locale_is_utf8();
  const int filled = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  std::string text;
  for (int k = 0; k < width; ++k) text += k < filled ? (fine ? "━" : "=") : (fine ? "╌" : ".");
  if (!stderr_has_colour()) return text;
  const std::size_t cut = static_cast<std::size_t>(filled) * (fine ? 3 : 1);
  return "\x1b[32m" + text.substr(0, cut) + "\x1b[2m" + text.substr(cut) + "\x1b[0m";
}

} // namespace

void progress_line::show(const progress& p) {
  if (!shown_) return;
  seen_.push_back(p);
  if (seen_.size() > 400) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < seen_.size(); k += 2) seen_[kept++] = seen_[k];
    seen_.resize(kept);
  }
  if (p.seconds - drawn_at_ < 0.1) return;
  drawn_at_ = p.seconds;
  drawn_ = true;
  const double left = seconds_left(), share = share_done();
  put_on_stderr(fmt::format("\r\x1b[K  {}  residual {:.2e}  {} {:3.0f} %  {}", counted_text(p.iteration, "iteration"),
                            p.relative_residual, bar(share, 20), 100 * share,
                            std::isfinite(left) ? seconds_text(std::max(left, 0.1)) + " left" : ""));
}

void progress_line::erase() {
  if (drawn_) put_on_stderr("\r\x1b[K");
  drawn_ = false;
}

double progress_line::share_done() const {
  const double now = seen_.back().relative_residual;
  if (!(goal_ > 0) || !(goal_ < 1) || !(now > 0)) return 0;
  return std::clamp(std::log(now) / std::log(goal_), 0.0, 1.0);
}

/// Least squares of log(residual) over time.
double progress_line::seconds_left() const {
  const std::size_t first = seen_.size() / 2;
  double count = 0, t = 0, l = 0, tt = 0, tl = 0;
  for (std::size_t k = first; k < seen_.size(); ++k) {
    const double log = std::log(seen_[k].relative_residual), at = seen_[k].seconds;
    if (!std::isfinite(log)) continue;
    count += 1, t += at, l += log, tt += at * at, tl += at * log;
  }
  const double slope = (count * tl - t * l) / (count * tt - t * t);
  if (count < 4 || !(slope < 0) || !(goal_ > 0)) return NAN;
  return (std::log(goal_) - std::log(seen_.back().relative_residual)) / slope;
}

} // namespace furrow::cli
