// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine.hpp"
#include "small_system.hpp"

#include <gtest/gtest.h>

#include <barrier>
#include <cstddef>
#include <limits>
#include <thread>
#include <vector>

/// Teams of lanes without a GPU.
namespace furrow::small_systems {

/// A lane by itself.
struct lone_lane {
  int rank = 0, size = 1;
  void sync() const {}
  double sum(double a) const { return a; }
  void sum(double&, double&) const {}
  template <class T> T add_lanes(T v, int) const { return v; }
};

/// What the threads that play a block share.
struct played_block {
  explicit played_block(int threads) : together(threads), at(2 * static_cast<std::size_t>(threads)) {}
  std::barrier<> together;
  std::vector<double> at; ///< two a lane
};

/// A thread that plays a lane of a block: its sums are in the order of a block of a GPU.
struct played_lane {
  int rank, size;
  played_block& all;

  void sync() const { all.together.arrive_and_wait(); }
  void sum(double& a, double& b) const {
    const auto mine = 2 * static_cast<std::size_t>(rank);
    all.at[mine] = a, all.at[mine + 1] = b;
    sync();
    double total[2] = {};
    for (int first = 0; first < size; first += 32)
      for (int which = 0; which < 2; ++which) {
        double lane[32];
        for (int l = 0; l < 32; ++l)
          lane[l] = all.at[2 * static_cast<std::size_t>(first + l) + static_cast<std::size_t>(which)];
        for (int apart = 16; apart > 0; apart /= 2)
          for (int l = 0; l < apart; ++l) lane[l] += lane[l + apart];
        total[which] += lane[0];
      }
    a = total[0], b = total[1];
    sync();
  }
  double sum(double a) const {
    double none = 0;
    sum(a, none);
    return a;
  }
  template <class T> T add_lanes(T v, int lanes) const {
    for (int apart = lanes / 2; apart > 0; apart /= 2) {
      all.at[static_cast<std::size_t>(rank)] = double(v);
      sync();
      v += T(all.at[static_cast<std::size_t>(rank ^ apart)]);
      sync();
    }
    return v;
  }
};

/// Launches on the CPU, by a lane a system, or by blocks that threads play.
template <class V> class played_engine final : public engine<V> {
public:
  explicit played_engine(bool blocks, index_t at_a_time = 5) : blocks_(blocks), at_a_time_(at_a_time) {}

  void take(const packed_systems<V>& systems) override {
    packed_ = systems;
    for (auto* const v : {&x_, &r_, &p_, &shadow_, &best_})
      *v = host_array<V>(systems.b.size(), std::numeric_limits<V>::quiet_NaN());
    states_ = host_array<state>(systems.about.size(), state{});
  }
  index_t resident(const launch_shape&) override { return at_a_time_; }
  void advance(const launch_shape& shape, cview<std::int32_t> active, int steps, bool stop, view<state> news,
               view<record> records) override {
    ++launches;
    const work<V> w{{packed_.about.data(), packed_.row_ptr.data(), packed_.col.data(), packed_.val.data(),
                     packed_.b.data(), packed_.first.data(), packed_.d.empty() ? nullptr : packed_.d.data(), x_.data(),
                     r_.data(), p_.data(), shadow_.data(), best_.data(), states_.data()},
                    active.data,
                    news.data,
                    records.data,
                    static_cast<std::int32_t>(active.size),
                    steps,
                    stop};
    for (int number = 0; number < active.size; ++number)
      if (shape.by == method::cg) run<method::cg>(shape, w, number);
      else run<method::bicgstab>(shape, w, number);
  }
  void answers(view<V> x) override { std::copy_n(x_.data(), x.size, x.data); }

  int launches = 0;

private:
  template <method M> void run(const launch_shape& shape, const work<V>& w, int number) {
    board shared;
    // Words of 8 bytes with a NaN before and behind: what a system may not touch.
    std::vector<double> room(static_cast<std::size_t>(shape.bytes / 8 + 2), std::nan(""));
    auto* const bytes = reinterpret_cast<unsigned char*>(room.data() + 1);
    const auto run_as = [&](auto team) {
      if (shape.inside) small_system<V, M, true, decltype(team)>(team, shared, bytes, w, number).run();
      else small_system<V, M, false, decltype(team)>(team, shared, bytes, w, number).run();
    };
    if (!blocks_) {
      facts& f = packed_.about[w.active[number]];
      f.lanes = 1; // of this team
      run_as(lone_lane{});
    } else {
      played_block all(shape.threads);
      std::vector<std::thread> threads;
      threads.reserve(static_cast<std::size_t>(shape.threads));
      for (int rank = 0; rank < shape.threads; ++rank)
        threads.emplace_back([&, rank] { run_as(played_lane{rank, shape.threads, all}); });
      for (auto& t : threads) t.join();
    }
    EXPECT_TRUE(std::isnan(room.front()) && std::isnan(room.back()));
  }

  bool blocks_;
  index_t at_a_time_;
  packed_systems<V> packed_;
  host_array<V> x_, r_, p_, shadow_, best_;
  host_array<state> states_;
};

} // namespace furrow::small_systems
