// SPDX-License-Identifier: BSD-3-Clause
#include "begun_ranks.hpp"
#include "interrupt.hpp"
#include "nearest.hpp"
#include "system.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/counted.hpp"
#include "distributed/bytes.hpp"
#include "distributed/memory.hpp"
#include "distributed/nccl/library.hpp"
#include "distributed/processors.hpp"
#include "distributed/together.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace furrow::cli {
namespace {

constexpr std::string_view speak_mpi = "mpi";
constexpr const char* no_gpus_that_talk =
    "--through {}: no GPUs of ranks are to talk: say --device gpu:all, or leave --through out";

/// For the others, which wait for the system: `why` is thrown on all of them.
void tell_others(communicator& c, const std::function<void()>& rethrow) {
  try {
    together(c, rethrow);
  } catch (...) { // it is said by the one who has it
  }
}

int wait_for_the_first(communicator& c) {
  leave_signals_to_the_first();
  try {
    follow_the_first(c);
  } catch (const error_of_all&) { // the first rank says it
  }
  return 0;
}

/// Whether the words of --device name several, also where all that there are is one.
bool names_several(const std::string& where) { return where == "gpu:all" || where.find(',') != std::string::npos; }

bool names_gpus(const std::string& where) { return where == "gpu" || where.starts_with("gpu:"); }

/// The GPUs that ranks have, as a person names them: "gpu:0 and gpu:1".
std::string devices_text(const std::vector<rank_part>& parts) {
  std::vector<std::string> names;
  names.reserve(parts.size());
  for (const rank_part& p : parts) names.push_back(fmt::format("gpu:{}", p.where.ordinal));
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::format("{} and {}", fmt::join(names, ", "), last);
}

struct named_way {
  std::string_view name;
  gpu_way way;
};
constexpr named_way ways[] = {
    {"auto", gpu_way::best}, {"peer", gpu_way::peer_memory}, {"nccl", gpu_way::nccl}, {"host", gpu_way::host}};

gpu_way way_named(const std::string& through) {
  if (through.empty()) return gpu_way::best;
  check_name("way", through, through_names());
  return std::ranges::find(ways, through, &named_way::name)->way;
}

/// The ranks with the GPUs that the first one's words give them; null: they compute on processors.
std::unique_ptr<communicator> take_gpus(communicator& all, solve_request& request) {
  const std::string& where = request.machine.where;
  if (all.of_first(names_gpus(where)) == 0) return nullptr;
  std::vector<device> here;
  gpu_way through = gpu_way::best;
  together(all, [&] {
    through = way_named(request.through);
    here = parse_devices(names_gpus(where) && where != "gpu" ? where : "gpu:all");
  });
  auto made = with_gpus(all, here, through);
  request.devices = gather_each(all, made->where());
  request.machine.where = fmt::format("gpu:{}", made->where().ordinal);
  return made;
}

} // namespace

std::vector<std::string> through_names() {
  std::vector<std::string> names;
  for (const named_way& w : ways) names.emplace_back(w.name);
  return names;
}

ranks_wish wish_for_ranks(const solve_request& request) {
  const std::string &text = request.ranks, &where = request.machine.where;
  const int begun = ranks_begun();
  way_named(request.through);
  if (text == speak_mpi || (text.empty() && begun > 1)) {
    check(request.through.empty() || names_gpus(where), fault::usage, no_gpus_that_talk, request.through);
    return {.mpi = true};
  }
  if (names_several(where)) {
    check(text.empty(), fault::usage, "--device {} is a rank on each of these GPUs: leave --ranks out", where);
    std::vector<device> devices = parse_devices(where);
    return {.threads = devices.size() > 1 ? int(devices.size()) : 0, .devices = std::move(devices)};
  }
  check(request.through.empty(), fault::usage, no_gpus_that_talk, request.through);
  if (text.empty()) return {};
  int n = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  check(failed == std::errc{} && end == text.data() + text.size() && n >= 1 && n <= 256, fault::usage,
        "--ranks: must be a number from 1 to 256, of threads, or mpi, not '{}'", text);
  check(begun == 1, fault::usage, "--ranks {}: mpirun has begun {} ranks already: leave --ranks out", n, begun);
  return {.threads = n};
}

int run_on_mpi(solve_request& request, const std::function<int()>& run) {
  if (names_gpus(request.machine.where)) nccl::keep_to_graphs();
  const std::unique_ptr<communicator> processes = take_begun_ranks();
  std::unique_ptr<communicator> on_gpus;
  try {
    on_gpus = take_gpus(*processes, request);
  } catch (const error_of_all&) { // the first rank says it
    if (processes->rank() > 0) return 0;
    throw;
  }
  communicator* const all = on_gpus ? on_gpus.get() : processes.get();
  const int share = processors_of_rank(*all);
  const double here = of_machine(*all, 1);
  if (request.machine.thread_count == 0) request.machine.thread_count = share;
  if (all->rank() > 0) {
    set_threads(request.machine.thread_count);
    return wait_for_the_first(*all);
  }
  request.of_mpi = request.ranks_here = all;
  request.share_of_ranks = here / all->size();
  try {
    return run();
  } catch (const error_of_all&) { // they know
    throw;
  } catch (...) {
    if (!request.met) tell_others(*all, [] { throw; });
    throw;
  }
}

void run_with_ranks(solve_request& request, const std::function<void()>& work) {
  if (request.threads_as_ranks == 0) return work();
  std::vector<device> on = request.devices;
  on.resize(static_cast<std::size_t>(request.threads_as_ranks));
  const gpu_way through = way_named(request.through);
  if (!request.devices.empty()) nccl::keep_to_graphs();
  run_ranks(
      on,
      [&](communicator& c) {
        if (c.rank() > 0) return follow_the_first(c);
        request.ranks_here = &c;
        work();
      },
      through);
  request.ranks_here = nullptr;
}

std::string who_ranks_are(const solve_request& request, const solve_outcome& o) {
  const char* const what = request.of_mpi ? "of MPI" : "in threads";
  if (o.way.empty()) return fmt::format("{} {}", o.parts.size(), what);
  return fmt::format("{} {}on {}, through {}", o.parts.size(), request.of_mpi ? "of MPI " : "", devices_text(o.parts),
                     o.way);
}

std::string ranks_text(const solve_request& request, const solve_outcome& o) {
  rank_part most;
  double waiting = 0;
  for (const rank_part& p : o.parts) {
    most.rows = std::max(most.rows, p.rows), most.entries = std::max(most.entries, p.entries);
    most.halo = std::max(most.halo, p.halo);
    waiting = std::max(waiting, p.waiting_seconds);
  }
  return line("ranks", fmt::format("{}: at most {}, {}, {} of others; waited {} at most", who_ranks_are(request, o),
                                   counted_text(most.rows, "row"), counted_text(most.entries, "entry"),
                                   counted_text(most.halo, "element"), seconds_text(waiting))) +
         line("partition", fmt::format("{}: {} two ranks", o.partition,
                                       counted_text(o.cut, "entry") + (o.cut == 1 ? " couples" : " couple"))) +
         (o.gathered.empty() ? "" : line("gathered", fmt::format("all rows on the first rank: {}", o.gathered)));
}

json ranks_json(const solve_outcome& o) {
  json list = json::array();
  for (const rank_part& p : o.parts)
    list.push_back(
        {{"device", p.where.is_gpu() ? fmt::format("gpu:{}", p.where.ordinal) : "cpu"},
         {"rows", p.rows},
         {"entries", p.entries},
         {"halo", p.halo},
         {"neighbours", p.neighbours},
         {"coupled", p.coupled},
         {"seconds", {{"setup", p.setup_seconds}, {"solve", p.solve_seconds}, {"waiting", p.waiting_seconds}}}});
  return list;
}

} // namespace furrow::cli
