// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <memory>
#include <mutex>
#include <vector>

namespace furrow {

/// Things of which each thread needs one at a time, with room that is worth keeping from task to task.
template <class T> class spare {
public:
  /// One that was given back, or a new T(of...).
  template <class... Of> std::shared_ptr<T> take(const Of&... of) {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto one = std::move(free_.back());
        free_.pop_back();
        return one;
      }
    }
    return std::make_shared<T>(of...);
  }
  void give_back(std::shared_ptr<T> one) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(one));
  }

private:
  std::vector<std::shared_ptr<T>> free_;
  std::mutex mutex_;
};

} // namespace furrow
