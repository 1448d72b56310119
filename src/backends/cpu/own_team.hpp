// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::cpu {

struct team;

/// While it lives, loops that this thread starts run on a team of its own, of `size` threads, and `thread_count()` is
/// theirs. `number`, from 1 on, tells apart teams that work at the same time. Scopes of a thread nest.
class own_team {
public:
  own_team(int size, int number);
  own_team(const own_team&) = delete;
  own_team& operator=(const own_team&) = delete;
  ~own_team();

private:
  team* outer_;
};

} // namespace furrow::cpu
