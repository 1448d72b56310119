// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "io/ending.hpp"
#include "io/may_be_symmetric.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>

namespace furrow::cli {

stats expected_stats(const matrix_header& head) {
  stats s;
  s.shape = head.shape;
  s.nnz = head.stored;
  // One triangle with a full diagonal is the rule; a skew-symmetric one has none.
  if (head.symmetry == matrix_header::symmetry::symmetric)
    s.nnz = std::max(head.stored, 2 * head.stored - head.shape.rows);
  if (head.symmetry == matrix_header::symmetry::skew_symmetric) s.nnz = 2 * head.stored;
  s.row_mean = head.shape.rows ? double(s.nnz) / double(head.shape.rows) : 0;
  s.row_min = static_cast<index_t>(s.row_mean);
  s.row_max = static_cast<index_t>(std::ceil(s.row_mean));
  s.diagonals = s.row_max; // as if every row were alike; what cannot be had after all is refused by the library
  return s;
}

double memory_plan::resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * double(sysconf(_SC_PAGESIZE));
}

double write_bytes(const std::string& file, shape2 shape, index_t nnz) {
  if (io::has_ending(file, ".furrow") || io::has_ending(file, ".petsc")) return 0;
  constexpr double piece = 32768, text = 50; // entries of a piece, bytes of an entry
  const double transpose = io::may_be_symmetric(shape, nnz) ? 8 * double(shape.rows) : 0;
  return transpose + text * std::min(double(nnz), piece * 8 * threads());
}

namespace {

/// Asked once for all that is said of it.
struct available {
  available(const memory_plan& plan, device where)
      : host(64 * plan.host_peak() < plan.host_before ? plan.host_before : double(available_host_memory())),
        // What has no code for the CPU is refused for that, and not for memory.
        gpu(where.is_gpu() ? double(available_gpu_memory(where.ordinal)) : std::numeric_limits<double>::infinity()) {}
  double host, gpu;
};

void check_fits(const memory_plan& plan, const available& there) {
  double needed = plan.host_peak();
  if (needed > there.host) needed -= memory_plan::resident_bytes(); // which a file of the system tells
  check(needed <= there.host, fault::memory, "this takes about {} of memory and {} are available", bytes_text(needed),
        bytes_text(there.host));
  check(plan.gpu <= there.gpu, fault::memory,
        "this takes about {} of GPU memory and {} are available: --device cpu has the host's", bytes_text(plan.gpu),
        bytes_text(there.gpu));
}

/// Each rung of a ladder estimates its memory. One is worth a line of its own where it takes a tenth more than was
/// told: less says nothing new, and would show as the same number twice.
void say_what_grows(double host, double gpu, const std::string& text) {
  static std::mutex one;
  static double host_said = 0, gpu_said = 0;
  const std::scoped_lock lock(one); // ranks are threads
  if (host <= 1.1 * host_said && gpu <= 1.1 * gpu_said) return;
  host_said = std::max(host, host_said);
  gpu_said = std::max(gpu, gpu_said);
  remark(text);
}

} // namespace

void check_fits(memory_plan& plan, device where) {
  const available there(plan, where);
  check_fits(plan, there);
  plan.host_before = there.host;
}

void announce(const memory_plan& plan, device where) {
  const available there(plan, where);
  std::string text =
      fmt::format("memory: about {} at the peak, {} available", bytes_text(plan.host_peak()), bytes_text(there.host));
  if (where.is_gpu())
    text += fmt::format("; on the GPU about {}, {} available", bytes_text(plan.gpu), bytes_text(there.gpu));
  say_what_grows(plan.host_peak(), plan.gpu, text);
  check_fits(plan, there);
}

} // namespace furrow::cli
