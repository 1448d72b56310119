// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>

namespace furrow {

/// METIS 5 with its numbers of 32 bits (metis.h of 5.1, IDXTYPEWIDTH and REALTYPEWIDTH 32, as Debian builds it).
struct metis_library {
  static constexpr const char* file = "libmetis.so.5";
  static constexpr int ok = 1, no_memory = -3, option_count = 40, option_seed = 8;

  using cut_graph = int (*)(std::int32_t* vertices, std::int32_t* constraints, std::int32_t* begins,
                            std::int32_t* neighbours, std::int32_t* weights, std::int32_t* sizes,
                            std::int32_t* edge_weights, std::int32_t* parts, float* targets, float* imbalance,
                            std::int32_t* options, std::int32_t* cut, std::int32_t* part);
  using order_graph = int (*)(std::int32_t* vertices, std::int32_t* begins, std::int32_t* neighbours,
                              std::int32_t* weights, std::int32_t* options, std::int32_t* old_of, std::int32_t* place);
  using separate_graph = int (*)(std::int32_t* vertices, std::int32_t* begins, std::int32_t* neighbours,
                                 std::int32_t* weights, std::int32_t* options, std::int32_t* size, std::int32_t* part);
  using set_defaults = int (*)(std::int32_t* options);

  cut_graph recursive = nullptr, k_way = nullptr;
  order_graph order = nullptr;
  separate_graph separate = nullptr;
  set_defaults defaults = nullptr;
};

/// The library, opened when it is first asked for; null where it cannot be had, and `why` says why not.
struct metis_search {
  const metis_library* found = nullptr;
  std::string why;
};
const metis_search& find_metis();

/// A turn to call METIS, which draws from the C library's `rand` and handles SIGABRT and SIGTERM while it runs. One
/// thread at a time has it, with random numbers of its own, so that the same graph has the same answer; behind it
/// `rand` goes on as if nothing had been drawn, and the handlers are those of before. SIGTERM waits for its end, in the
/// thread that calls.
class metis_turn {
public:
  metis_turn();
  metis_turn(const metis_turn&) = delete;
  metis_turn& operator=(const metis_turn&) = delete;
  ~metis_turn();

private:
  std::lock_guard<std::mutex> turn_;
  char numbers_[128];
  char* before_;
  struct sigaction on_abort_ {
  }, on_term_{};
  sigset_t blocked_before_{};
};

} // namespace furrow
