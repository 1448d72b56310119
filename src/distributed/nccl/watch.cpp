// SPDX-License-Identifier: BSD-3-Clause
#include "watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace furrow::nccl {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds nap{20}; ///< between two looks at what others say
constexpr int naps_a_look = 25;              ///< at the counts

} // namespace

watch::watch(std::shared_ptr<ending> end, who of, std::chrono::milliseconds patience)
    : end_(std::move(end)), of_(std::move(of)), patience_(patience), since_(clock::now()), thread_([this] { run(); }) {}

watch::~watch() {
  {
    const std::lock_guard lock(busy_);
    over_ = true;
  }
  stir_.notify_all();
  thread_.join();
}

bool watch::is_over(std::chrono::milliseconds at_most) {
  std::unique_lock lock(busy_);
  return stir_.wait_for(lock, at_most, [&] { return over_; });
}

void watch::look(clock::time_point now) {
  if (const std::string failed = of_.failure(); !failed.empty())
    return end_->say(fmt::format("NCCL failed on {}: {}: the solve ends", of_.name, failed));
  const counts seen = of_.look();
  if (seen == last_ && seen.waits()) {
    if (now - since_ >= patience_)
      end_->say(fmt::format("{} has waited {} s for the others through NCCL, and one of them does not answer: the "
                            "solve ends",
                            of_.name, double(patience_.count()) / 1000));
    return;
  }
  last_ = seen, since_ = now;
}

void watch::run() {
  const int naps = int(std::clamp<std::int64_t>(patience_ / nap / 4, 1, naps_a_look));
  for (int k = 0; !is_over(nap); ++k) {
    if (!end_->has_come() && k % naps == 0) look(clock::now());
    if (end_->has_come()) return of_.give_up();
  }
}

} // namespace furrow::nccl
