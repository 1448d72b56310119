// SPDX-License-Identifier: BSD-3-Clause
#include "memory_limits.hpp"

#include "io/io_test_kit.hpp"

#include "kit/sanitized.hpp"

#include <furrow/device.hpp>

#include <sys/resource.h>

namespace furrow {
namespace {

/// A /proc and a /sys of its own.
struct fake_system {
  io_test::folder root;
  explicit fake_system(const std::string& groups) { put("proc/self/cgroup", groups); }
  void put(const std::string& name, const std::string& text) {
    const auto file = root / name;
    std::filesystem::create_directories(file.parent_path());
    io_test::put_file(file, text);
  }
  memory_limit tightest() const { return control_groups(root.path).tightest(); }
};

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

TEST(control_groups, of_version_2_are_the_own_one_and_all_above_it) {
  fake_system here("0::/slurm/job_7/step_0\n");
  const std::string base = "sys/fs/cgroup/";
  here.put(base + "memory.max", "9000\n"); // a container shows its own limit at the root
  here.put(base + "memory.current", "100\n");
  here.put(base + "slurm/memory.max", "max\n");
  here.put(base + "slurm/memory.current", "100\n");
  here.put(base + "slurm/job_7/memory.max", "5000\n");
  here.put(base + "slurm/job_7/memory.current", "1500\n");
  here.put(base + "slurm/job_7/memory.stat", "anon 900\nfile 600\ninactive_file 400\n");
  here.put(base + "slurm/job_7/step_0/memory.max", "max\n");
  EXPECT_EQ(here.tightest().most, 5000);
  EXPECT_EQ(here.tightest().left, 5000 - 1500 + 400);
  here.put(base + "slurm/job_7/step_0/memory.max", "3000\n");
  here.put(base + "slurm/job_7/step_0/memory.current", "3500\n"); // more than is allowed, for a moment
  EXPECT_EQ(here.tightest().most, 3000);
  EXPECT_EQ(here.tightest().left, 0);
}

TEST(control_groups, of_version_1_are_found_by_their_controller) {
  fake_system here("5:cpu,cpuacct:/other\n4:memory:/batch/job\n0::/\n");
  const std::string base = "sys/fs/cgroup/memory/";
  here.put(base + "memory.limit_in_bytes", "9223372036854771712\n"); // its word for none
  here.put(base + "memory.usage_in_bytes", "70000\n");
  here.put(base + "batch/memory.limit_in_bytes", "8000\n");
  here.put(base + "batch/memory.usage_in_bytes", "6000\n");
  here.put(base + "batch/memory.stat", "inactive_file 5\ntotal_inactive_file 1000\n");
  here.put(base + "other/memory.limit_in_bytes", "10\n");
  EXPECT_EQ(here.tightest().most, 8000);
  EXPECT_EQ(here.tightest().left, 3000);
  here.put(base + "batch/job/memory.limit_in_bytes", "2000\n");
  here.put(base + "batch/job/memory.usage_in_bytes", "1900\n");
  EXPECT_EQ(here.tightest().most, 2000);
  EXPECT_EQ(here.tightest().left, 100);
}

TEST(control_groups, of_a_container_may_have_names_of_the_world_outside) {
  fake_system here("4:memory:/docker/abc\n0::/../../elsewhere\n");
  here.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "4000\n");
  here.put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
  EXPECT_EQ(here.tightest().left, 3000);
}

TEST(control_groups, that_say_nothing_limit_nothing) {
  for (const char* text : {"", "0::\n", "garbage\n:::\n4:memory\n", "0::/nowhere\n"}) {
    fake_system here(text);
    EXPECT_EQ(here.tightest().most, none) << text;
    EXPECT_EQ(here.tightest().left, none) << text;
  }
  fake_system damaged("0::/a\n");
  damaged.put("sys/fs/cgroup/a/memory.max", "-5 what\n");
  EXPECT_EQ(damaged.tightest().left, none);
}

TEST(control_groups, with_a_limit_beyond_the_machine_limit_nothing) {
  fake_system here("0::/a\n");
  here.put("sys/fs/cgroup/a/memory.max", "4000000000000000000\n");
  here.put("sys/fs/cgroup/a/memory.current", "1000\n");
  EXPECT_EQ(here.tightest().left, none);
}

TEST(number_in_file, is_found_behind_its_name) {
  const io_test::folder here;
  const std::string name = here / "stat", missing = here / "missing";
  io_test::put_file(name, "file 3\ninactive_file_all 4\ninactive_file   5 kB\n  last: 6");
  EXPECT_EQ(number_in_file(name.c_str(), "file"), 3);
  EXPECT_EQ(number_in_file(name.c_str(), "inactive_file"), 5);
  EXPECT_EQ(number_in_file(name.c_str(), "  last:"), 6);
  EXPECT_EQ(number_in_file(name.c_str(), "active_file"), -1);
  EXPECT_EQ(number_in_file(name.c_str()), -1);
  EXPECT_EQ(number_in_file(missing.c_str()), -1);
  io_test::put_file(name, "70000\n");
  EXPECT_EQ(number_in_file(name.c_str()), 70000);
  for (const char* text : {"", "max\n", "-5 what\n"}) {
    io_test::put_file(name, text);
    EXPECT_EQ(number_in_file(name.c_str()), -1) << text;
    EXPECT_EQ(number_in_file(name.c_str(), "file"), -1) << text;
  }
}

TEST(resource_limits, of_address_space_and_data_count) {
  if (kit::sanitized()) GTEST_SKIP() << "sanitizers hold terabytes, and need more at any time";
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit before{};
    ASSERT_EQ(getrlimit(resource, &before), 0);
    constexpr std::int64_t most = std::int64_t(1) << 40;
    if (before.rlim_cur <= rlim_t(most)) GTEST_SKIP() << "a lower limit is set already";
    rlimit lower = before;
    lower.rlim_cur = rlim_t(most);
    ASSERT_EQ(setrlimit(resource, &lower), 0);
    const memory_limit found = resource_limits();
    const std::int64_t available = available_host_memory();
    ASSERT_EQ(setrlimit(resource, &before), 0);
    EXPECT_EQ(found.most, most);
    EXPECT_LT(found.left, most);
    EXPECT_LE(available, found.left);
  }
}

} // namespace
} // namespace furrow
