// SPDX-License-Identifier: BSD-3-Clause
#include "memory_place.hpp"

#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace furrow {
namespace {

constexpr memory_place host{}, gpu_0{false, true, 0}, gpu_1{false, true, 1}, managed{true, true, 0};
constexpr device cpu{}, on_0{device::kind::gpu, 0}, on_1{device::kind::gpu, 1};

std::string sentence(device where, memory_place b, memory_place x) {
  return kit::said_by(fault::usage, [&] { lie_on_gpu(where, std::array{placed{"b", b}, placed{"x", x}}); });
}
bool there(device where, memory_place b, memory_place x) {
  return lie_on_gpu(where, std::array{placed{"b", b}, placed{"x", x}});
}

TEST(memory_places, decide_where_vectors_are_taken) {
  EXPECT_FALSE(there(cpu, host, host));
  EXPECT_FALSE(there(cpu, managed, host));
  EXPECT_FALSE(there(on_0, host, host));
  EXPECT_FALSE(there(on_0, managed, host));
  EXPECT_TRUE(there(on_0, gpu_0, gpu_0));
  EXPECT_TRUE(there(on_1, gpu_1, managed));
  EXPECT_TRUE(there(on_1, managed, managed));
}

TEST(memory_places, are_refused_with_a_sentence) {
  EXPECT_EQ(sentence(cpu, gpu_1, host), "b lies on gpu:1, but this runs on the CPU: give it in host memory");
  EXPECT_EQ(sentence(on_0, gpu_0, gpu_1), "x lies on gpu:1, but this runs on gpu:0: give it there, or in host memory");
  EXPECT_EQ(sentence(on_0, gpu_0, host), "b lies on gpu:0 and x in host memory: give both in one memory");
  EXPECT_EQ(sentence(on_1, host, gpu_1), "x lies on gpu:1 and b in host memory: give both in one memory");
}

TEST(memory_places, of_the_process_are_host_memory_where_no_gpu_is_used) {
  const std::vector<double> there(10);
  const double here = 0;
  for (const void* address :
       {static_cast<const void*>(there.data()), static_cast<const void*>(&here), static_cast<const void*>(nullptr)}) {
    EXPECT_TRUE(place_of(address).host);
    EXPECT_FALSE(place_of(address).gpu);
  }
}

} // namespace
} // namespace furrow
