// SPDX-License-Identifier: BSD-3-Clause
#include "together.hpp"

#include "candidate.hpp"
#include "small_report.hpp"

#include "solve/balanced_rows.hpp"
#include "solve/largest.hpp"
#include "solve/second_look.hpp"

#include "backends/cpu/own_team.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/turn.hpp"
#include "core/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <tuple>
#include <utility>

namespace furrow::small_systems {
namespace {

constexpr const char* way_together = "in one launch with others";
/// Steps of a launch at most: some milliseconds, after which a watcher is asked.
constexpr int steps_of_a_launch = 128;
/// Seconds from one question to a watcher to the next, at least.
constexpr double between_questions = 0.01;
/// Systems of a launch, over the blocks that run at a time: enough that few blocks wait for the last ones.
constexpr index_t waves = 4;
/// Bytes of the systems of a group: so many are enough to fill any device.
constexpr double most_of_a_group = 256e6;

/// body(k) for k in [0, count), a thread each, as many at a time as there are threads.
template <class F> void side_by_side_each(index_t count, const F& body) {
  std::atomic<index_t> next{0};
  cpu::for_each_task(std::min<index_t>(cpu::thread_count(), count), [&](index_t thread) {
    const cpu::own_team alone(1, static_cast<int>(thread) + 1);
    for (index_t k; (k = next.fetch_add(1)) < count;) body(k);
  });
}

/// Some systems of a batch, from their triplets to their reports.
template <class V> class group {
public:
  group(const system_source<V>& systems, const solve_options& o, shared_callbacks& callbacks, const chip& there)
      : systems_(systems), o_(o), callbacks_(callbacks), there_(there) {}

  /// Of the systems [first, last).
  void look_at(index_t first, index_t last, std::vector<taken>& said) {
    const double began = now();
    std::vector<std::optional<candidate<V>>> found(static_cast<std::size_t>(last - first));
    side_by_side_each(last - first, [&](index_t k) {
      taken& mine = said[static_cast<std::size_t>(first + k)];
      try {
        auto seen = look(systems_.triplets(first + k), systems_.b(first + k), systems_.x(first + k), o_, there_);
        if (auto* const c = std::get_if<candidate<V>>(&seen)) found[static_cast<std::size_t>(k)] = std::move(*c);
        else mine.alone = std::get<std::string>(seen);
      } catch (const error& e) {
        mine.alone = e.what();
      } catch (const std::bad_alloc&) {
        mine.alone = "out of memory";
      }
    });
    for (index_t k = first; k < last; ++k) {
      auto& c = found[static_cast<std::size_t>(k - first)];
      if (!c) continue;
      if (c->zero) {
        std::ranges::fill(systems_.x(k), V(0));
        said[static_cast<std::size_t>(k)].outcome = batch_outcome{report_of_zero(*c, o_), {}, way_together};
        continue;
      }
      numbers_.push_back(k), candidates_.push_back(std::move(*c));
    }
    look_seconds_ = now() - began;
  }

  void solve(engine<V>& on, std::vector<taken>& said) {
    if (candidates_.empty()) return;
    double began = now();
    std::vector<given_system<V>> given;
    given.reserve(candidates_.size());
    for (auto& c : candidates_) given.push_back(std::move(c.given));
    const packed_systems<V> packed = pack(given, scales_rows(o_));
    for (std::size_t k = 0; k < given.size(); ++k) {
      candidates_[k].given.about = given[k].about, candidates_[k].given.negated = given[k].negated;
      given[k].a = {};
    }
    callbacks_.announce({2 * packed.bytes(), device_bytes_of(packed)});
    pack_seconds_ = now() - began;
    began = now();
    on.take(packed);
    upload_seconds_ = now() - began;
    began_ = now();
    if (callbacks_.out_of_time()) who_ = stopped_by::clock;
    states_.resize(candidates_.size()), courses_.resize(candidates_.size());
    for (const auto& [shape, members] : classes()) run(on, shape, members);
    host_array<V> x(packed.b.size());
    on.answers(as_view(x));
    solve_seconds_ = now() - began_;
    side_by_side_each(std::ssize(candidates_), [&](index_t k) { conclude(static_cast<std::size_t>(k), x, said); });
  }

private:
  double device_bytes_of(const packed_systems<V>& packed) const {
    double total = 0;
    for (const facts& f : packed.about) total += device_bytes<V>(f.rows, f.entries, scales_rows(o_));
    return total;
  }

  /// Systems that one launch serves: of one kernel, of as many threads, and with about as many blocks a multiprocessor.
  std::vector<std::pair<launch_shape, std::vector<std::int32_t>>> classes() const {
    using key = std::tuple<method, bool, int, int>;
    std::map<key, std::pair<launch_shape, std::vector<std::int32_t>>> found;
    for (std::size_t k = 0; k < candidates_.size(); ++k) {
      const launch_shape& s = candidates_[k].shape;
      const int blocks = std::min(16, there_.multiprocessor_bytes / std::max(1, s.bytes));
      auto& [shape, members] = found[{s.by, s.inside, s.threads, blocks}];
      const int bytes = std::max(shape.bytes, s.bytes);
      shape = s, shape.bytes = bytes;
      members.push_back(static_cast<std::int32_t>(k));
    }
    std::vector<std::pair<launch_shape, std::vector<std::int32_t>>> list;
    list.reserve(found.size());
    for (auto& one : found) list.push_back(std::move(one.second));
    return list;
  }

  /// Launch after launch, each with the systems that are not done and, in the place of those that are, the next ones.
  void run(engine<V>& on, const launch_shape& shape, const std::vector<std::int32_t>& members) {
    const auto window = static_cast<std::size_t>(std::max<index_t>(1, waves * on.resident(shape)));
    std::vector<std::int32_t> active;
    auto next = members.begin();
    std::vector<state> news;
    std::vector<record> records;
    for (;;) {
      if (who_ != stopped_by::watcher)
        while (active.size() < window && next != members.end()) active.push_back(*next++);
      if (active.empty()) return;
      const bool stop = who_ != stopped_by::nobody;
      const int steps = stop ? 0 : steps_of_a_launch;
      news.resize(active.size()), records.resize(active.size() * static_cast<std::size_t>(steps));
      const double before = now() - began_;
      on.advance(shape, active, steps, stop, news, records);
      follow(active, news, records, before);
      std::erase_if(active, [&](std::int32_t k) { return states_[static_cast<std::size_t>(k)].at == place::done; });
      if (who_ == stopped_by::nobody) ask(active);
    }
  }

  void follow(const std::vector<std::int32_t>& active, const std::vector<state>& news,
              const std::vector<record>& records, double before) {
    const double after = now() - began_;
    const auto count = static_cast<index_t>(active.size());
    cpu::for_each_range(count, 16, [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) {
        const auto one = static_cast<std::size_t>(active[static_cast<std::size_t>(k)]);
        states_[one] = news[static_cast<std::size_t>(k)];
        courses_[one].follow(states_[one], records.data() + k, count, before, after, o_.history);
      }
    });
  }

  /// Whether somebody says stop, or the clock.
  void ask(const std::vector<std::int32_t>& active) {
    if (callbacks_.out_of_time()) who_ = stopped_by::clock;
    if (now() - asked_ < between_questions) return;
    progress p{0, 0, now() - began_};
    if (!active.empty()) {
      const state& s = states_[static_cast<std::size_t>(active.front())];
      p.iteration = static_cast<index_t>(s.slot[control::steps]);
      p.relative_residual = std::sqrt(s.slot[control::rr]) / s.norm_b;
    }
    if (!callbacks_.goes_on(p) || callbacks_.cancelled()) who_ = stopped_by::watcher;
    asked_ = now();
  }

  void conclude(std::size_t k, const host_array<V>& x, std::vector<taken>& said) {
    const candidate<V>& c = candidates_[k];
    const state& s = states_[k];
    taken& mine = said[static_cast<std::size_t>(numbers_[k])];
    if (s.at != place::done) {
      mine.outcome = batch_outcome{not_begun()};
      return;
    }
    solve_report report = report_of(c, s, std::move(courses_[k]), who_, o_);
    if (!is_final(c, s, o_)) {
      mine.alone =
          fmt::format("{} with {} did not get there in a launch ({})", report.solver, report.precond, name(report.why));
      return;
    }
    const double since = now();
    if (c.found && report.why == status::converged) doubt(report, *c.found, numbers_[k], answer_of(c, x));
    const double looked = now() - since;
    const double share = 1 / double(candidates_.size());
    report.setup_seconds = share * (look_seconds_ + pack_seconds_ + upload_seconds_);
    report.setup_parts = {
        {"look", share * look_seconds_}, {"pack", share * pack_seconds_}, {"upload", share * upload_seconds_}};
    report.solve_seconds = share * solve_seconds_ + looked;
    if (!report.rungs.empty()) report.rungs.front().solve_seconds = report.solve_seconds;
    std::ranges::copy(answer_of(c, x), systems_.x(numbers_[k]).begin());
    mine.outcome = batch_outcome{std::move(report), {}, way_together};
  }

  static cview<V> answer_of(const candidate<V>& c, const host_array<V>& x) {
    return {x.data() + c.given.about.vector_at, c.given.about.rows};
  }

  /// As the ladder of a solve by itself: complete factors of the few whose estimate is doubtful, on the host, where the
  /// triplets are made once more. Factors of each would take several times as long as all steps on the device, about a
  /// millisecond of a core for 500 rows.
  void doubt(solve_report& report, const features& f, index_t number, cview<V> x) const {
    if (const char* const by = singular_by(f, number)) return warn_of_many_answers(report, by);
    if (!in_doubt(report, f) || is_zero(x) || callbacks_.out_of_time() || callbacks_.stopped()) return;
    work_done work{.on_gpu = true};
    work.add(report, f);
    const double operations = operations_worth(report, f, work);
    if (!(operations > 0)) return;
    const auto facts =
        look_by_factors(systems_.triplets(number), systems_.b(number), x, operations, report.relative_residual);
    if (facts && facts->singular) warn_of_many_answers(report, "a complete factorisation");
    else if (facts) put_into(report, *facts);
  }

  /// Who found A singular; null: nobody.
  const char* singular_by(const features& f, index_t number) const {
    const bool each_row = f.zero_sums == f.rows;
    if (!each_row && !may_have_singular_part(f)) return nullptr;
    const coo<V> a = systems_.triplets(number);
    if (each_row && each_row_adds_up_to_zero(a)) return of_row_sums;
    return may_have_singular_part(f) && !balanced_rows_of(a).none() ? of_column_sums : nullptr;
  }

  const system_source<V>& systems_;
  const solve_options& o_;
  shared_callbacks& callbacks_;
  chip there_;
  std::vector<index_t> numbers_; ///< of the candidates in the batch
  std::vector<candidate<V>> candidates_;
  std::vector<state> states_;
  std::vector<course> courses_;
  stopped_by who_ = stopped_by::nobody;
  double began_ = 0, asked_ = 0, look_seconds_ = 0, pack_seconds_ = 0, upload_seconds_ = 0, solve_seconds_ = 0;
};

/// Rows and entries of a system are at most so many bytes on the device.
template <class V> double bytes_at_most(index_t size) { return (8 * double(sizeof(V)) + 8) * double(size) + 1024; }

/// The end of the group that begins with system `first`.
template <class V> index_t end_of_group(const system_source<V>& systems, index_t first, double most_bytes) {
  index_t last = first;
  for (double bytes = 0; last < systems.count; ++last) {
    bytes += bytes_at_most<V>(std::min<index_t>(systems.size(last), 2 * most_rows * most_rows));
    if (last > first && bytes > most_bytes) break;
  }
  return last;
}

} // namespace

double bytes_of_a_group(device where) {
  return std::min(most_of_a_group, 0.5 * double(available_gpu_memory(where.ordinal)));
}

template <class V>
std::vector<taken> solve_together(const system_source<V>& systems, const solve_options& options,
                                  shared_callbacks& callbacks, const chip& there,
                                  const std::function<std::unique_ptr<engine<V>>()>& make, double most_bytes) {
  std::vector<taken> said(static_cast<std::size_t>(systems.count));
  const auto all_alone = [&](index_t first, index_t last, const std::string& why) {
    for (index_t k = first; k < last; ++k) {
      taken& mine = said[static_cast<std::size_t>(k)];
      if (!mine.outcome && mine.alone.empty()) mine.alone = why;
    }
  };
  std::string why = why_alone(options, is_wide<V>);
  if (why.empty() && there.block_bytes <= 0) why = "there is no GPU to launch it on";
  if (why.empty() && systems.count < 2) why = "it is the only one";
  if (!why.empty()) {
    all_alone(0, systems.count, why);
    return said;
  }
  std::unique_ptr<engine<V>> on;
  for (index_t first = 0, last = 0; first < systems.count; first = last) {
    last = end_of_group(systems, first, most_bytes);
    if (callbacks.stopped() || callbacks.cancelled()) {
      for (index_t k = first; k < systems.count; ++k) said[static_cast<std::size_t>(k)].outcome = {not_begun()};
      break;
    }
    group<V> some(systems, options, callbacks, there);
    try {
      some.look_at(first, last, said);
      const turn mine(options.where);
      if (!on) on = make();
      some.solve(*on, said);
    } catch (const error& e) {
      if (e.kind == fault::internal) throw;
      all_alone(first, last, e.what());
    } catch (const std::bad_alloc&) {
      all_alone(first, last, "a launch finds no memory");
    }
  }
  return said;
}

#define FURROW_TOGETHER(V)                                                                                             \
  template std::vector<taken> solve_together(const system_source<V>&, const solve_options&, shared_callbacks&,         \
                                             const chip&, const std::function<std::unique_ptr<engine<V>>()>&, double);
FURROW_TOGETHER(double)
FURROW_TOGETHER(float)
#undef FURROW_TOGETHER

} // namespace furrow::small_systems
