// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint_monitor.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/printable.hpp"
#include "io/checkpoint_file.hpp"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

checkpoint without_x(checkpoint from) {
  from.x = {};
  return from;
}

} // namespace

void check_is_of(const checkpoint& saved, const system_fingerprint& system, const std::filesystem::path& file) {
  const system_fingerprint& was = saved.system;
  const std::string name = printable(file.string());
  check(was.rows == system.rows && was.cols == system.cols, fault::input,
        "{}: is a checkpoint of a matrix of {} x {}, but this one is {} x {}", name, was.rows, was.cols, system.rows,
        system.cols);
  check(was.entries == system.entries, fault::input, "{}: is a checkpoint of a matrix of {}, but this one has {}", name,
        counted(was.entries, "entry"), system.entries);
  check(was.matrix == system.matrix, fault::input,
        "{}: is a checkpoint of another matrix of the same size: some entry differs", name);
  check(was.rhs == system.rhs, fault::input,
        "{}: is a checkpoint of the same matrix with another right-hand side: its x may serve as the first guess",
        name);
}

checkpoint_keeper::checkpoint_keeper(std::filesystem::path file, double every, checkpoint from)
    : file_(std::move(file)), every_(every), from_(without_x(std::move(from))) {
  check(every > 0 && std::isfinite(every), fault::usage,
        "checkpoints every {} seconds: give a number of seconds above 0", every);
  io::refuse_to_replace(file_);
}

checkpoint checkpoint_keeper::head(index_t iterations, double seconds, double residual) const {
  return {
      from_.system, from_.solver, from_.precond, from_.iterations + iterations, from_.seconds + seconds, residual, {}};
}

checkpoint checkpoint_keeper::head_of(const progress& p) {
  if (p.iteration < iteration_) ended_iterations_ += iteration_, ended_seconds_ += seconds_; // the next rung of "auto"
  iteration_ = p.iteration, seconds_ = p.seconds;
  return head(ended_iterations_ + p.iteration, ended_seconds_ + p.seconds, p.relative_residual);
}

checkpoint checkpoint_keeper::head_of(const solve_report& report) const {
  index_t all = report.rungs.empty() ? report.iterations : 0;
  for (const solve_rung& rung : report.rungs) all += rung.iterations;
  return head(all, report.solve_seconds, report.relative_residual);
}

void checkpoint_keeper::cannot_write(const error& why) {
  if (!failed) throw error(why.kind, why.what());
  failed(why);
}

void checkpoint_keeper::keep(const checkpoint& now, cview<double> x) {
  try {
    write_checkpoint(now, x, file_);
    ++written_;
  } catch (const error& e) {
    cannot_write(e);
  }
}

void checkpoint_keeper::watch(solve_options& o) {
  o.monitor_seconds = every_;
  o.monitor = checkpoint_monitor{this, std::move(o.monitor), {}, {}};
}

void checkpoint_keeper::finish(const solve_report& report, cview<double> x) {
  check(x.data || x.empty(), fault::usage, "x points nowhere, but has {} elements", x.size);
  if (std::ranges::all_of(x, [](double v) { return std::isfinite(v); })) keep(head_of(report), x);
}

bool checkpoint_monitor::operator()(const progress& now, cview<double> x) const {
  host_array<double> own;
  if (whole_in_order) own = whole_in_order(x), x = as_cview(own);
  keeper->keep(keeper->head_of(now), x);
  return !other || other(now, x);
}

} // namespace furrow
