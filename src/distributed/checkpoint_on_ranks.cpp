// SPDX-License-Identifier: BSD-3-Clause
#include "gather_rows.hpp"
#include "load/tell.hpp"
#include "memory.hpp"
#include "numbers_on_their_way.hpp"
#include "show_x.hpp"
#include "write_on_ranks.hpp"

#include "core/check.hpp"
#include "io/checkpoint_file.hpp"

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

/// Of all of x, on all ranks: one after the other goes on with what the one before it has handed over, 72 bytes.
io::checksum_of_words checksum_of_parts(communicator& c, cview<double> mine) {
  io::checksum_of_words sum;
  for (int r = 0; r < c.size(); ++r) {
    if (c.rank() == r) sum.add(mine.data, static_cast<std::uint64_t>(mine.size));
    sum = tell(c, r, sum);
  }
  return sum;
}

/// What of a checkpoint rank 0 has, on all of them, without x.
checkpoint tell_head(communicator& c, const checkpoint& first) {
  struct numbers {
    system_fingerprint system;
    index_t iterations;
    double seconds, relative_residual;
  };
  const numbers all = tell(c, 0, numbers{first.system, first.iterations, first.seconds, first.relative_residual});
  return {all.system,
          tell(c, 0, first.solver),
          tell(c, 0, first.precond),
          all.iterations,
          all.seconds,
          all.relative_residual,
          {}};
}

/// Of rank 0: x goes on its way where it fits.
checkpoint read_on_first(numbers_on_their_way& way, const std::filesystem::path& file,
                         const system_fingerprint& system) {
  const io::input from(file);
  return io::read_unchanged(from, [&] {
    io::checkpoint_reader reader(from);
    const checkpoint& head = reader.head();
    host_array<double> some(std::min(index_t(1) << 16, head.system.cols));
    for (index_t at = 0; at < head.system.cols; at += some.size()) {
      const view<double> next(some.data(), std::min(some.size(), head.system.cols - at));
      reader.read(next);
      if (head.system.cols == way.size()) way.put(as_cview(next));
    }
    reader.check_sum();
    check_is_of(head, system, file);
    check(head.system.cols == way.size(), fault::usage,
          "the vector has {} elements for {} on all ranks together: give one for each", head.system.cols, way.size());
    return head;
  });
}

} // namespace

std::string write_checkpoint_on_ranks(communicator& c, const checkpoint& now, cview<double> mine,
                                      const std::filesystem::path& file) {
  return as_one(c, [&] {
    const index_t size = begins_of_parts(c, mine.size).back();
    alike(c, [&] {
      check(c.rank() != 0 || size == now.system.cols, fault::usage, "x has {} elements for a matrix of {} columns",
            size, now.system.cols);
    });
    const std::string head = io::head_of_checkpoint(now, checksum_of_parts(c, mine));
    return write_parts_behind(c, head, mine, file, usual_opener());
  });
}

checkpoint read_checkpoint_on_ranks(communicator& c, const std::filesystem::path& file,
                                    const system_fingerprint& system, index_t size) {
  return as_one(c, [&] {
    check_memory_of_machine(c, double(sizeof(double)) * double(size));
    numbers_on_their_way way(c, size);
    checkpoint saved;
    std::optional<error> failed;
    if (c.rank() > 0) way.follow();
    else {
      keep_failure(failed, [&] { saved = read_on_first(way, file, system); });
      way.end();
    }
    throw_first_fault(c, failed);
    saved = tell_head(c, saved);
    saved.x = std::move(way.mine());
    return saved;
  });
}

/// All ranks write together, or have the same fault; what is done about it is the first one's word.
std::string checkpoint_keeper::keep_on_ranks(communicator& c, checkpoint_keeper* keeper, const checkpoint& now,
                                             cview<double> mine) {
  std::string who;
  std::optional<error> wrong;
  try {
    who = write_checkpoint_on_ranks(c, now, mine, keeper ? keeper->file_ : std::filesystem::path());
    if (keeper) ++keeper->written_;
  } catch (const error_of_all& e) {
    wrong.emplace(e.kind, e.what());
  }
  if (wrong)
    alike(c, [&] {
      if (keeper) keeper->cannot_write(*wrong);
    });
  return who;
}

std::string checkpoint_keeper::finish_on_ranks(communicator& c, checkpoint_keeper* keeper, const solve_report& report,
                                               cview<double> mine) {
  return as_one(c, [&] {
    checkpoint_keeper* const of_first = c.rank() == 0 ? keeper : nullptr;
    if (c.any(!std::ranges::all_of(mine, [](double v) { return std::isfinite(v); }))) return std::string();
    return keep_on_ranks(c, of_first, of_first ? of_first->head_of(report) : checkpoint{}, mine);
  });
}

bool checkpoint_monitor::show_part(communicator& c, const progress& now, cview<double> mine) const {
  host_array<double> own;
  if (part_in_order) own = part_in_order(mine), mine = as_cview(own);
  checkpoint_keeper::keep_on_ranks(c, keeper, keeper ? keeper->head_of(now) : checkpoint{}, mine);
  return c.of_first(bool(other)) == 0 || show_x_to_first(c, other, now, mine);
}

bool show_x_to_first(communicator& c, const monitor_of_x& monitor, const progress& now, cview<double> mine) {
  const auto* const kept = monitor.target<checkpoint_monitor>();
  if (c.of_first(kept != nullptr) != 0) return (kept ? *kept : checkpoint_monitor{}).show_part(c, now, mine);
  const std::vector<index_t> begins = begins_of_parts(c, mine.size);
  host_array<double> all;
  bool goes_on = true;
  together(c, [&] {
    if (c.rank() == 0) all = host_array<double>(begins.back());
  });
  gather(c, mine, as_view(all), begins);
  if (c.rank() == 0) goes_on = monitor(now, as_cview(all)); // what it throws ends all, as it is: see `as_one`
  return c.of_first(goes_on) != 0;
}

} // namespace furrow
