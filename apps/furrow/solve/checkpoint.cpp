// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "system.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/printable.hpp"
#include "io/checkpoint_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace furrow::cli {

void check_checkpoints(const solve_request& q) {
  check(q.every == 0 || !q.checkpoint.empty(), fault::usage,
        "--every says how often --checkpoint writes: name its file");
  check(q.resume.empty() || q.x0.empty(), fault::usage,
        "--resume and --x0 both say what x begins with: give one of them");
  check(q.checkpoint != "-", fault::usage, "--checkpoint wants a file that can be replaced, not standard output");
  check(q.resume != "-", fault::usage, "--resume wants a file, not standard input");
  if (!q.checkpoint.empty()) io::refuse_to_replace(q.checkpoint);
}

std::unique_ptr<checkpoint_keeper> resume_and_keep(solve_request& q, system_to_solve& a) {
  if (q.checkpoint.empty() && q.resume.empty()) return {};
  check(a.count == 1, fault::usage, "a checkpoint holds one x, and there are {} right-hand sides: leave {} out",
        a.count, q.resume.empty() ? "--checkpoint" : "--resume");
  checkpoint from;
  from.system = a.print();
  if (!q.resume.empty()) {
    from = a.resume(q.resume, from.system);
    q.resumed = from;
  }
  from.solver = q.options.solver, from.precond = q.options.precond;
  if (q.checkpoint.empty()) return {};
  constexpr double usual = 60; // seconds
  auto keeper = std::make_unique<checkpoint_keeper>(q.checkpoint, q.every > 0 ? q.every : usual, std::move(from));
  keeper->failed = [&found = q.checkpoint_failure](const error& e) {
    if (!found.solving) remark(e.what(), ": the last checkpoint, of x where the solve ended, is missing");
    else if (found.why.empty()) remark(e.what(), ": the solve goes on without this checkpoint");
    found.why = e.what();
    if (!found.solving) found.of_end = e.kind;
  };
  keeper->watch(q.options);
  return keeper;
}

std::string checkpoint_text(const solve_request& q) {
  std::string text;
  if (q.resumed)
    text +=
        line("resumed", fmt::format("after {} and {} with {} and {}, residual {:.3e}",
                                    counted_text(q.resumed->iterations, "iteration"), seconds_text(q.resumed->seconds),
                                    q.resumed->solver, q.resumed->precond, q.resumed->relative_residual));
  const auto& failure = q.checkpoint_failure;
  if (q.checkpoints > 0 || !failure.why.empty())
    text +=
        line("checkpoint", fmt::format("{}, written {}{}{}", printable(q.checkpoint), counted(q.checkpoints, "time"),
                                       failure.why.empty() ? ""
                                       : failure.of_end    ? "; the last one is missing: "
                                                           : "; some before the last one are missing: ",
                                       failure.why));
  return text;
}

json resumed_json(const solve_request& q) {
  return {{"iterations", q.resumed->iterations},
          {"seconds", q.resumed->seconds},
          {"solver", q.resumed->solver},
          {"precond", q.resumed->precond},
          {"relative_residual", number(q.resumed->relative_residual)}};
}

} // namespace furrow::cli
