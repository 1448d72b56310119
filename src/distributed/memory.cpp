// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include "gpu/identity.hpp"
#include "machine.hpp"
#include "together.hpp"

#include "core/check.hpp"

#include <furrow/device.hpp>

namespace furrow {
namespace {

struct machine_and_bytes {
  machine_name name = name_of_machine();
  double bytes = 0;
  int ranks = 0;
};

/// Of the machine of this rank.
machine_and_bytes total_of_machine(communicator& c, double mine) {
  machine_and_bytes one;
  one.bytes = mine;
  machine_and_bytes total = one;
  total.bytes = 0;
  for (const machine_and_bytes& other : gather_each(c, one))
    if (other.name == one.name) total.bytes += other.bytes, ++total.ranks;
  return total;
}

/// By its place on the bus: processes may have different numbers for one GPU.
struct gpu_and_bytes {
  machine_name machine = name_of_machine();
  gpu_identity on{};
  double bytes = 0;
};

/// Of the ranks on the GPU of this one.
double total_of_gpu(communicator& c, double mine) {
  gpu_and_bytes one;
  together(c, [&] { one.on = identity_of_gpu(c.where().ordinal), one.bytes = mine; });
  double total = 0;
  for (const gpu_and_bytes& other : gather_each(c, one))
    if (other.machine == one.machine && other.on == one.on) total += other.bytes;
  return total;
}

} // namespace

void check_memory_of_gpus(communicator& c, double mine) {
  const double total = total_of_gpu(c, mine);
  const int ordinal = c.where().ordinal;
  together(c, [&] {
    const auto available = double(available_gpu_memory(ordinal));
    check(total <= available, fault::memory,
          "the ranks on gpu:{} need {:.3g} GB more memory there, of which {:.3g} GB can be had", ordinal, total * 1e-9,
          available * 1e-9);
  });
}

bool fits_on_gpus(communicator& c, double mine) {
  const double total = total_of_gpu(c, mine);
  double available = 0;
  together(c, [&] { available = double(available_gpu_memory(c.where().ordinal)); });
  return !c.any(total > available);
}

double of_machine(communicator& c, double mine) { return total_of_machine(c, mine).bytes; }

double check_memory_of_machine(communicator& c, double mine) {
  const machine_and_bytes total = total_of_machine(c, mine);
  const auto available = double(available_host_memory());
  together(c, [&] {
    check(total.bytes <= available, fault::memory,
          "the {} rank{} of this machine need {:.3g} GB more memory, of which {:.3g} GB can be had", total.ranks,
          total.ranks == 1 ? "" : "s", total.bytes * 1e-9, available * 1e-9);
  });
  return total.bytes;
}

} // namespace furrow
