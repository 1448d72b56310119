// SPDX-License-Identifier: BSD-3-Clause
#include "processors.hpp"

#include "bytes.hpp"
#include "machine.hpp"

#include "backends/cpu/workers.hpp"

#include <algorithm>

#include <sched.h>

namespace furrow {
namespace {

struct seat {
  machine_name machine = name_of_machine();
  cpu_set_t may_use{};
};

} // namespace

int processors_of_rank(communicator& c) {
  seat mine;
  if (sched_getaffinity(0, sizeof mine.may_use, &mine.may_use) != 0) CPU_ZERO(&mine.may_use); // more than fit: no share
  cpu_set_t all;
  CPU_ZERO(&all);
  int ranks = 0;
  for (const seat& other : gather_each(c, mine)) {
    if (other.machine != mine.machine) continue;
    CPU_OR(&all, &all, &other.may_use);
    ++ranks;
  }
  const int own = cpu::processors(), together = CPU_COUNT(&all);
  return together == 0 ? own : std::clamp(together / ranks, 1, own);
}

} // namespace furrow
