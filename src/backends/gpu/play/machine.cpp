// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"
#include "fibre.hpp"
#include "lockstep.hpp"
#include "memory.hpp"

#include "core/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <numeric>
#include <random>
#include <set>

namespace furrow::play {

thread_local constinit player* running = nullptr;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t room_bytes = 256 << 10;
#else
constexpr std::size_t room_bytes = 64 << 10;
#endif
constexpr std::size_t most_accesses = 1 << 14; ///< of a lane, before those of its warp are added up

/// Ends a thread, and with it the kernel.
struct halted {};

enum class state { ready, paused, in_shuffle, at_meeting, at_barrier, ended };

struct actor : player {
  explicit actor(std::byte* room) : flow(room, room_bytes) {
    stack = reinterpret_cast<std::uintptr_t>(room);
    stack_bytes = room_bytes;
  }
  fibre flow;
  machine::impl* home = nullptr;
  state now = state::ready;
  int number = 0;
  std::uint64_t mask = 0; ///< of the lanes that it waits for
  int source = 0;
  alignas(16) std::byte brings[16]{}, gets[16]{};
};

actor& self() { return static_cast<actor&>(*running); }

template <class T> void shuffle(std::vector<T>& all, std::mt19937_64& random) { // the same everywhere, unlike std's
  for (std::size_t k = all.size(); k > 1; --k) std::swap(all[k - 1], all[random() % k]);
}

} // namespace

struct machine::impl {
  explicit impl(const settings& how) : how(how), random(how.seed), lanes(how.wave) {
    check(how.wave == 32 || how.wave == 64, fault::usage, "a played wave has 32 or 64 lanes, not {}", how.wave);
  }

  const settings how;
  memory arrays;
  std::mt19937_64 random;
  lockstep lanes;
  kernel_report report;
  std::set<std::string> kinds; ///< of faults
  std::unique_ptr<std::byte[]> stacks;
  std::vector<actor> threads;
  std::vector<std::vector<access>> accesses; ///< of a thread, since the lanes of its warp met
  std::vector<unsigned> meetings;            ///< of a warp
  const std::function<void()>* body = nullptr;
  std::exception_ptr thrown;
  bool halt = false;
  std::int32_t block = 0;
  unsigned phase = 0;
  struct early_read {
    memory::place place;
    int reader;
  };
  std::vector<early_read> unwritten; ///< since the last barrier

  void say(const std::string& kind, const std::string& sentence) {
    ++report.all_faults;
    if (kinds.insert(kind).second) report.faults.push_back(fmt::format("{}: {}", report.kernel, sentence));
  }

  /// 0, 1, ..., n - 1 in the order in which they take their turns.
  std::vector<int> turns_of(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    if (how.order == turns::descending) std::reverse(all.begin(), all.end());
    if (how.order == turns::random) shuffle(all, random);
    return all;
  }

  void prepare(int count) {
    if (static_cast<std::size_t>(count) == threads.size()) return;
    threads.clear();
    stacks.reset(new std::byte[static_cast<std::size_t>(count) * room_bytes]); // not touched before it is used
    for (int t = 0; t < count; ++t) {
      threads.emplace_back(stacks.get() + static_cast<std::size_t>(t) * room_bytes);
      actor& made = threads.back();
      made.home = this;
      made.number = t;
      made.wave = how.wave;
      made.rank = t % how.wave;
      made.thread.x = static_cast<unsigned>(t);
    }
    accesses.resize(static_cast<std::size_t>(count));
  }

  static void run(void* argument) {
    actor& t = *static_cast<actor*>(argument);
    try {
      (*t.home->body)();
    } catch (const halted&) {
      t.home->halt = true;
    } catch (...) {
      t.home->thrown = std::current_exception();
      t.home->halt = true;
    }
    t.now = state::ended;
  }

  void resume(actor& t) {
    running = &t;
    t.flow.resume();
    running = nullptr;
  }

  std::span<actor> warp_of(int w) {
    const auto first = static_cast<std::size_t>(w) * static_cast<std::size_t>(how.wave);
    return std::span(threads).subspan(first, std::min(static_cast<std::size_t>(how.wave), threads.size() - first));
  }

  void fold(int w) {
    const bool traced = how.traced > 0 && block == 0 && w == 0;
    const std::size_t first = static_cast<std::size_t>(w) * static_cast<std::size_t>(how.wave),
                      count = warp_of(w).size();
    lanes.fold(std::span(accesses).subspan(first, count), arrays, traced ? &report.trace : nullptr, how.traced);
    for (std::size_t k = first; k < first + count; ++k) accesses[k].clear();
  }

  /// Lanes that all wait for each other go on. False where none does.
  bool let_meet(int w) {
    const auto warp = warp_of(w);
    bool any = false;
    for (actor& t : warp) {
      if (t.now != state::in_shuffle && t.now != state::at_meeting) continue;
      const auto waits_too = [&](const actor& other) {
        return !(t.mask >> other.rank & 1) || (other.now == t.now && other.mask == t.mask);
      };
      if (!std::all_of(warp.begin(), warp.end(), waits_too)) continue;
      const bool values = t.now == state::in_shuffle;
      const std::uint64_t mask = t.mask;
      for (actor& other : warp) {
        if (!(mask >> other.rank & 1)) continue;
        if (values) std::memcpy(other.gets, warp[static_cast<std::size_t>(other.source)].brings, sizeof other.gets);
        other.now = state::ready;
      }
      if (values) ++report.shuffles;
      else ++meetings[w];
      any = true;
    }
    return any;
  }

  /// Until all lanes have ended or are at a barrier.
  void play_warp(int w) {
    const auto warp = warp_of(w);
    for (bool more = true; more && !halt;) {
      more = false;
      for (actor& t : warp) {
        if (t.now != state::ready) continue;
        resume(t);
        if (halt) return;
      }
      fold(w);
      for (actor& t : warp)
        if (t.now == state::paused) {
          t.now = state::ready;
          more = true;
        }
      more = let_meet(w) || more;
    }
    for (const actor& t : warp) {
      if (t.now != state::in_shuffle && t.now != state::at_meeting) continue;
      const auto missing = std::find_if(warp.begin(), warp.end(), [&](const actor& other) {
        return (t.mask >> other.rank & 1) && !(other.now == t.now && other.mask == t.mask);
      });
      say("lanes",
          fmt::format("lane {} of warp {} of block {} waits {} for lane {}, which {}: all lanes that the mask "
                      "names must call it",
                      t.rank, w, block, t.now == state::in_shuffle ? "in a shuffle" : "in __syncwarp", missing->rank,
                      missing->now == state::ended        ? "has ended"
                      : missing->now == state::at_barrier ? "waits at a barrier"
                                                          : "waits for others"));
      halt = true;
      return;
    }
  }

  void play_block() {
    const int warps = (static_cast<int>(threads.size()) + how.wave - 1) / how.wave;
    meetings.assign(static_cast<std::size_t>(warps), 0);
    phase = 0;
    for (actor& t : threads) {
      t.now = state::ready;
      t.flow.start(run, &t);
    }
    for (;;) {
      for (const int w : turns_of(warps)) {
        play_warp(w);
        if (halt) return;
      }
      look_for_unwritten();
      const auto waits = [](const actor& t) { return t.now == state::at_barrier; };
      const auto waiting = std::find_if(threads.begin(), threads.end(), waits);
      if (waiting == threads.end()) break;
      const auto gone = std::find_if_not(threads.begin(), threads.end(), waits);
      if (gone != threads.end())
        say("barrier",
            fmt::format("thread {} of block {} waits at a barrier, and thread {} has ended without it: every thread of "
                        "the block must reach __syncthreads()",
                        waiting->number, block, gone->number));
      ++phase;
      ++report.barriers;
      for (actor& t : threads)
        if (waits(t)) t.now = state::ready; // as on a device, which does not wait for threads that have ended
    }
    arrays.end_block();
  }

  /// What was read before it was written and is not written since: otherwise it is a race, which is said already.
  void look_for_unwritten() {
    for (const auto& [place, reader] : unwritten) {
      const memory::array& a = arrays[place.array];
      if (a.seen.written(place.element)) continue;
      say("unwritten " + a.name,
          fmt::format("thread {} of block {} reads {}, which no thread of its block has written: "
                      "write it first, and let a barrier come between",
                      reader, block, arrays.name_of(place)));
    }
    unwritten.clear();
  }

  void leave(state why) {
    actor& t = self();
    t.now = why;
    t.flow.leave();
  }

  std::string who(const actor& t) const { return fmt::format("thread {} of block {}", t.number, block); }

  [[noreturn]] void stray(const actor& t, const void* at, bool stores) {
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    std::string where = "what is in no array";
    constexpr std::uintptr_t near = 1 << 12;
    for (int k = 0; k < arrays.count(); ++k) {
      const auto& a = arrays[k];
      const std::uintptr_t end = a.begin + static_cast<std::uintptr_t>(a.elements) * std::uintptr_t(a.element_bytes);
      if (a.live && address - end < near)
        where = fmt::format("{}[{}], and {} has {} elements", a.name,
                            a.elements + static_cast<index_t>((address - end) / std::uintptr_t(a.element_bytes)),
                            a.name, a.elements);
      else if (a.live && a.begin - address < near) where = fmt::format("what lies before {}", a.name);
    }
    say("stray",
        fmt::format("{} {} {}: compare the index with the size first", who(t), stores ? "writes" : "reads", where));
    throw halted{};
  }

  void note(actor& t, const memory::place& p, bool stores) {
    memory::array& a = arrays[p.array];
    if (!a.writable) {
      if (!stores) return;
      say("const " + a.name, fmt::format("{} writes {}, which a kernel only reads", who(t), arrays.name_of(p)));
      throw halted{};
    }
    const visit now{block, t.number, phase, meetings[static_cast<std::size_t>(t.number / how.wave)]};
    if (!stores && a.shared && !a.seen.written(p.element)) unwritten.push_back({p, t.number});
    const auto race = stores ? a.seen.write(p.element, now, how.wave) : a.seen.read(p.element, now, how.wave);
    if (!race.other.happened()) return;
    const std::string sentence = fmt::format("{} {} {}, which thread {} of ", who(t), stores ? "writes" : "reads",
                                             arrays.name_of(p), race.other.thread);
    const char* const did = race.wrote ? "wrote" : "read";
    if (race.other.block == block)
      say("race " + a.name,
          fmt::format("{}the block {} since the last barrier: put __syncthreads() between the two", sentence, did));
    else
      say("race of blocks " + a.name,
          fmt::format("{}block {} {}: blocks run in any order, so give each element one writer", sentence,
                      race.other.block, did));
  }
};

machine::machine(const settings& how) : impl_(new impl(how)) {}
machine::~machine() = default;

void machine::add(std::string name, const void* data, index_t elements, int element_bytes, bool writable) {
  impl_->arrays.add(std::move(name), data, elements, element_bytes, writable);
}

kernel_report machine::play(std::string kernel, size3 grid, int threads, const std::function<void()>& body) {
  impl& m = *impl_;
  m.report = {};
  m.report.kernel = std::move(kernel);
  m.report.blocks = index_t(grid.x) * grid.y * grid.z;
  m.report.threads = threads;
  m.report.wave = m.how.wave;
  m.lanes = lockstep(m.how.wave);
  m.kinds.clear();
  m.unwritten.clear();
  m.halt = false;
  m.thrown = nullptr;
  m.body = &body;
  m.arrays.begin_kernel();
  m.prepare(threads);
  for (actor& t : m.threads) {
    t.grid = grid;
    t.block_size = {static_cast<unsigned>(threads), 1, 1};
  }
  for (const int b : m.turns_of(static_cast<int>(m.report.blocks))) {
    m.block = b;
    const auto k = static_cast<unsigned>(b);
    for (actor& t : m.threads) t.block = {k % grid.x, k / grid.x % grid.y, k / grid.x / grid.y};
    m.play_block();
    if (m.halt) break;
  }
  m.arrays.end_block();
  for (auto& a : m.accesses) a.clear();
  if (m.thrown) std::rethrow_exception(m.thrown);
  m.report.arrays = m.lanes.counts();
  return std::move(m.report);
}

void touch(const void* at, bool stores) {
  const void* const site = __builtin_return_address(0);
  actor& t = self();
  machine::impl& m = *t.home;
  const memory::place p = m.arrays.find(at);
  if (p.array < 0) m.stray(t, at, stores);
  m.note(t, p, stores);
  auto& log = m.accesses[static_cast<std::size_t>(t.number)];
  log.push_back({site, p.element, p.array, stores});
  if (log.size() >= most_accesses) m.leave(state::paused);
}

void wait_for_block() { self().home->leave(state::at_barrier); }

void wait_for_lanes(std::uint64_t mask) {
  self().mask = mask;
  self().home->leave(state::at_meeting);
}

void exchange(void* value, int bytes, std::uint64_t mask, int source) {
  actor& t = self();
  std::memcpy(t.brings, value, static_cast<std::size_t>(bytes));
  t.mask = mask;
  t.source = source;
  t.home->leave(state::in_shuffle);
  std::memcpy(value, t.gets, static_cast<std::size_t>(bytes));
}

void* share(const char* name, index_t elements, int element_bytes) {
  return self().home->arrays.share(name, elements, element_bytes);
}

} // namespace furrow::play
