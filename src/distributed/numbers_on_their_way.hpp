// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "parts.hpp"

#include <algorithm>
#include <vector>

namespace furrow {

/// Numbers on their way from the first rank, from front to back, to the ranks that have their rows.
class numbers_on_their_way {
public:
  numbers_on_their_way(communicator& c, index_t rows) : c_(c), mine_(rows) {
    for (const index_t n : gather_each(c, rows)) begins_.push_back(begins_.back() + n);
    if (c.rank() == 0) waiting_ = host_array<double>(std::min(most_at_once, begins_.back()));
  }

  index_t size() const { return begins_.back(); }
  host_array<double>& mine() { return mine_; }

  /// The first one's: what comes next.
  void put(cview<double> numbers) {
    for (index_t k = 0; k < numbers.size;) {
      if (held_ == waiting_.size()) send();
      const index_t some = std::min(numbers.size - k, waiting_.size() - held_);
      std::copy_n(numbers.data + k, some, waiting_.data() + held_);
      held_ += some, k += some;
    }
  }
  /// The first one's: nothing comes any more.
  void end() {
    if (held_ > 0) send();
    gather_each(c_, index_t(0));
  }
  /// The others': until nothing comes any more.
  void follow() {
    while (const index_t count = gather_each(c_, index_t(0)).front()) exchange(count);
  }

private:
  void send() {
    exchange(gather_each(c_, held_).front());
    held_ = 0;
  }

  void exchange(index_t count) {
    const index_t first = sent_, last = sent_ + count;
    std::vector<outgoing> out;
    std::vector<incoming> in;
    for (int r = 0; r < c_.size(); ++r) {
      const auto k = static_cast<std::size_t>(r);
      const index_t from = std::max(first, begins_[k]), to = std::min(last, begins_[k + 1]);
      if (from >= to) continue;
      const auto there = [&] { return cview<double>(waiting_.data() + (from - first), to - from); };
      if (c_.rank() == 0 && r == 0) std::ranges::copy(there(), mine_.begin() + from);
      else if (c_.rank() == 0) out.push_back({r, bytes_of(there())});
      else if (c_.rank() == r) in.push_back({0, bytes_of(view<double>(mine_.data() + (from - begins_[k]), to - from))});
    }
    c_.start(out, in);
    c_.finish();
    sent_ = last;
  }

  communicator& c_;
  host_array<double> mine_, waiting_;
  std::vector<index_t> begins_{0};
  index_t held_ = 0, sent_ = 0;
};

} // namespace furrow
