// SPDX-License-Identifier: BSD-3-Clause
#include "first.hpp"

#include "gather_rows.hpp"
#include "load/tell.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "report_bytes.hpp"

#include "backends/cpu/own_team.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/workers.hpp"
#include "backends/turn.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include <sched.h>

namespace furrow {
namespace {

/// Where a rank runs, and on how many threads.
struct place_of_rank {
  machine_name machine = name_of_machine();
  cpu_set_t may_use{};
  int threads = cpu::thread_count();
  place_of_rank() {
    if (sched_getaffinity(0, sizeof may_use, &may_use) != 0) CPU_ZERO(&may_use); // more than fit: as it is
  }
};

/// What the ranks of the first one's machine have together.
struct machine_of_rank {
  cpu_set_t own{}, all{};
  int threads = 1;
};
machine_of_rank look_around(communicator& c) {
  const place_of_rank mine;
  machine_of_rank s;
  CPU_ZERO(&s.all);
  s.own = mine.may_use, s.threads = 0;
  for (const place_of_rank& other : gather_each(c, mine)) {
    if (other.machine != mine.machine) continue;
    CPU_OR(&s.all, &s.all, &other.may_use);
    s.threads += other.threads;
  }
  if (const int there = CPU_COUNT(&s.all); there > 0)
    s.threads = std::clamp(s.threads, 1, std::max(there, mine.threads));
  return s;
}

/// While it lives this thread, and threads that it starts, may run where the ranks of this machine may.
class on_all_processors {
public:
  explicit on_all_processors(const machine_of_rank& s) : before_(s.own) {
    moved_ = CPU_COUNT(&s.own) > 0 && !CPU_EQUAL(&s.own, &s.all) && sched_setaffinity(0, sizeof s.all, &s.all) == 0;
  }
  on_all_processors(const on_all_processors&) = delete;
  on_all_processors& operator=(const on_all_processors&) = delete;
  ~on_all_processors() {
    if (moved_) sched_setaffinity(0, sizeof before_, &before_);
  }

private:
  cpu_set_t before_;
  bool moved_;
};

/// A message without content from the first rank: who waits for a message sleeps, who waits at a sum does not.
void wait_for_first(communicator& c) {
  char done = 0;
  std::vector<outgoing> out;
  std::vector<incoming> in;
  if (c.rank() == 0)
    for (int r = 1; r < c.size(); ++r) out.push_back({r, bytes_of(cview<char>(&done, 1))});
  else in.push_back({0, bytes_of(view<char>(&done, 1))});
  c.start(out, in);
  c.finish();
}

/// What a solve takes that is known by its sizes alone.
memory_estimate about(shape2 shape, index_t entries, precision p, solve_options o) {
  stats sizes;
  sizes.shape = shape, sizes.nnz = entries;
  if (shape.rows > 0) sizes.row_mean = double(entries) / double(shape.rows);
  if (o.format == "auto") o.format = "csr", o.kernel = "auto";
  return estimate_solve_memory(sizes, p, o);
}

} // namespace

std::atomic<double>& room_of_first() {
  static std::atomic<double> most = std::numeric_limits<double>::infinity();
  return most;
}

std::string too_large_for_first(communicator& c, shape2 shape, index_t entries, precision p, const solve_options& o) {
  std::string why;
  const double each = 8 + bytes_of(p);
  const double sent =
      of_machine(c, each * double(entries) / c.size()); // and about what the first one's neighbours send
  std::optional<error> failed;
  if (c.rank() == 0)
    keep_failure(failed, [&] {
      const double wanted = std::max(about(shape, entries, p, o).host, each * double(entries) + sent);
      const double there = std::min(double(available_host_memory()), room_of_first().load());
      if (wanted > there)
        why = fmt::format("the first rank would need {:.3g} GB more memory for all rows, of which {:.3g} GB can be had",
                          wanted * 1e-9, there * 1e-9);
    });
  throw_first_fault(c, failed);
  return tell(c, 0, why);
}

double alone_on_first(communicator& c, const std::function<void()>& f) {
  const machine_of_rank here = look_around(c);
  std::optional<error> failed;
  const double began = now();
  if (c.rank() == 0)
    keep_failure(failed, [&] {
      if (c.size() == 1) return f();
      const on_all_processors there(here);
      const cpu::own_team team(here.threads, 1);
      f();
    });
  wait_for_first(c);
  const double waited = c.rank() == 0 ? 0 : now() - began;
  throw_first_fault(c, failed);
  return waited;
}

solve_report report_of_first(communicator& c, const solve_report& report) {
  return report_of_bytes(tell(c, 0, c.rank() == 0 ? bytes_of_report(report) : std::string()));
}

template <class V>
system_on_first<V>::system_on_first(communicator& c, coo<V> rows, const solve_options& o, climbed_before before)
    : c_(c), o_(o), before_(std::move(before)) {
  const index_t entries = begins_of_parts(c, rows.nnz()).back();
  const shape2 shape{begins_of_parts(c, rows.shape.rows).back(), rows.shape.cols};
  std::optional<error> failed;
  keep_failure(failed, [&] {
    if (c.rank() != 0) return;
    if (o_.where.is_gpu() &&
        about(shape, entries, precision_of<V>, o_).gpu > double(available_gpu_memory(o_.where.ordinal)))
      o_.where = device{}; // where its own GPU is too small
  });
  throw_first_fault(c, failed);
  a_ = gather_rows(c, rows);
}

/// On the first rank.
template <class V> void system_on_first<V>::set_up(const solve_options& left) {
  if (climbing_ || named_) {
    if (climbing_) climbing_->set_limits(left);
    else named_->set_limits(left);
    return;
  }
  const double began = now();
  solve_options o = o_;
  o.time_limit = left.time_limit, o.max_iterations = left.max_iterations;
  if (o.solver != "auto") {
    named_.emplace(std::move(a_), o);
    return;
  }
  setup_clock clock;
  climbing_ =
      std::make_unique<ladder<V>>(matrix_source<V>(std::move(a_), o.where), o, clock, nullptr, std::move(before_));
  setup_seconds_ = now() - began;
}

template <class V> solve_report system_on_first<V>::solve(cview<V> b, view<V> x, const solve_options& left) {
  const std::vector<index_t> b_begins = begins_of_parts(c_, b.size), x_begins = begins_of_parts(c_, x.size);
  host_array<V> whole_b, whole_x;
  std::optional<error> failed;
  keep_failure(failed, [&] {
    if (c_.rank() == 0) whole_b = host_array<V>(b_begins.back()), whole_x = host_array<V>(x_begins.back());
  });
  throw_first_fault(c_, failed);
  gather(c_, b, as_view(whole_b), b_begins);
  gather(c_, as_cview(x), as_view(whole_x), x_begins);
  solve_report report;
  waited_ += alone_on_first(c_, [&] {
    const turn mine(o_.where);
    set_up(left);
    report = named_ ? named_->solve(as_cview(whole_b), as_view(whole_x))
                    : climbing_->solve(as_cview(whole_b), as_view(whole_x));
    report.setup_seconds += std::exchange(setup_seconds_, 0);
  });
  report = report_of_first(c_, report);
  scatter(c_, as_cview(whole_x), x, x_begins);
  return report;
}

template class system_on_first<double>;
template class system_on_first<float>;

} // namespace furrow
