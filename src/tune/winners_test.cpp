// SPDX-License-Identifier: BSD-3-Clause
#include "tune_until.hpp"
#include "winners.hpp"

#include "kit/matrices.hpp"

#include <furrow/tune.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace furrow {
namespace {

/// A cache folder of its own for each test of each process: the same test may run twice at a time, once with
/// sanitizers.
struct winners : testing::Test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("furrow-winners-" + std::to_string(::getpid()) + "-" +
                                                testing::UnitTest::GetInstance()->current_test_info()->name());
  void SetUp() override { setenv("FURROW_CACHE", folder.c_str(), 1); } // NOLINT(concurrency-mt-unsafe)
  void TearDown() override {
    unsetenv("FURROW_CACHE"); // NOLINT(concurrency-mt-unsafe)
    std::filesystem::remove_all(folder);
  }
};

const winner_key key{0x1234, "gpu:0 (NVIDIA H200)", "0.1.0-abc"};

TEST_F(winners, are_found_again_and_the_last_one_counts) {
  const auto file = winners_file();
  EXPECT_EQ(file.parent_path(), folder);
  EXPECT_FALSE(recall(file, key));
  ASSERT_TRUE(remember(file, key, {"sell:8:256", "slices", 1.5e-6}));
  ASSERT_TRUE(remember(file, key, {"csr", "stream", 1.25e-6}));
  const auto found = recall(file, key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->format, "csr");
  EXPECT_EQ(found->kernel, "stream");
  EXPECT_EQ(found->seconds, 1.25e-6);
}

TEST_F(winners, hold_for_their_matrix_device_and_build_alone) {
  ASSERT_TRUE(remember(winners_file(), key, {"csr", "stream", 1e-6}));
  for (const auto& other : {winner_key{0x1235, key.device, key.build}, winner_key{key.fingerprint, "cpu", key.build},
                            winner_key{key.fingerprint, key.device, "0.1.0-abd"}})
    EXPECT_FALSE(recall(winners_file(), other));
}

TEST_F(winners, lines_that_are_broken_are_passed_over) {
  const auto file = winners_file();
  ASSERT_TRUE(remember(file, key, {"csr", "stream", 1e-6}));
  const std::string start = "0000000000001234\tgpu:0 (NVIDIA H200)\t0.1.0-abc\t";
  std::ofstream(file, std::ios::app) << start << "\n"
                                     << start << "csr\tstream\tsoon\n"
                                     << start << "csr\tscalar\t-1\n\n";
  ASSERT_TRUE(recall(file, key));
  EXPECT_EQ(recall(file, key)->kernel, "stream");
}

TEST_F(winners, a_folder_that_cannot_be_written_is_said) {
  EXPECT_FALSE(remember("/proc/no-such-folder/winners.tsv", key, {"csr", "stream", 1e-6}));
  EXPECT_FALSE(remember({}, key, {"csr", "stream", 1e-6}));
}

TEST_F(winners, tune_measures_once_and_then_remembers) {
  const auto a = kit::laplacian(40, 40);
  const auto s = measure(a);
  const choice first = tune(a, s, {});
  EXPECT_NE(first.reason.find("measured: fastest of"), std::string::npos) << first.reason;
  const choice second = tune(a, s, {});
  EXPECT_NE(second.reason.find("measured before"), std::string::npos) << second.reason;
  EXPECT_EQ(name_of(first), name_of(second));
  EXPECT_EQ(first.kernel, second.kernel);
  auto other = a;
  other.val[0] += 1;
  EXPECT_NE(tune(other, s, {}).reason.find("measured: fastest of"), std::string::npos);
}

TEST_F(winners, tune_ends_where_it_is_stopped_and_remembers_nothing) {
  const auto a = kit::laplacian(40, 40);
  const auto s = measure(a);
  const std::string expected = name_of(shortlist(s, precision::f64, {}).front().what);
  for (const int most : {0, 1, 2, 3}) {
    int asked = 0;
    const choice c = tune_until(a, s, {}, {}, [&] { return asked++ >= most; });
    EXPECT_EQ(asked, most + 1);
    if (most < 2) {
      EXPECT_EQ(name_of(c), expected);
    }
    EXPECT_NE(c.reason.find("it was stopped"), std::string::npos) << c.reason;
  }
  EXPECT_NE(tune(a, s, {}).reason.find("measured: fastest of"), std::string::npos);
}

TEST_F(winners, a_line_replaces_those_of_its_key_alone) {
  const auto file = winners_file();
  ASSERT_TRUE(remember(file, key, {"csr", "stream", 1e-6}));
  ASSERT_TRUE(remember(file, {key.fingerprint, "cpu", key.build}, {"dia", "rows", 2e-6}));
  std::ofstream(file, std::ios::app) << "0000000000001234\tgpu:0 (NVIDIA H200)\t0.1.0-abc\tcut sh";
  ASSERT_TRUE(remember(file, key, {"sell", "slices", 3e-6}));
  std::ifstream in(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"0000000000001234\tcpu\t0.1.0-abc\tdia\trows\t2e-06",
                                             "0000000000001234\tgpu:0 (NVIDIA H200)\t0.1.0-abc\tsell\tslices\t3e-06"}));
}

TEST_F(winners, what_is_no_regular_file_is_left_alone) {
  std::filesystem::create_directories(folder);
  ASSERT_EQ(::mkfifo(winners_file().c_str(), 0600), 0);
  EXPECT_FALSE(recall(winners_file(), key)); // and nobody waits for the other end
  EXPECT_FALSE(remember(winners_file(), key, {"csr", "stream", 1e-6}));
  EXPECT_TRUE(std::filesystem::is_fifo(winners_file()));
  std::filesystem::remove(winners_file());
  std::filesystem::create_directory(winners_file());
  EXPECT_FALSE(recall(winners_file(), key));
  EXPECT_FALSE(remember(winners_file(), key, {"csr", "stream", 1e-6}));
}

TEST_F(winners, of_many_who_write_at_once_none_is_lost) {
  constexpr int many = 12;
  std::vector<std::thread> writers;
  for (int k = 0; k < many; ++k)
    writers.emplace_back([k] {
      const winner_key mine{std::uint64_t(k), "cpu", "1"};
      EXPECT_TRUE(remember(winners_file(), mine, {"csr", "rows", 1e-6 * (k + 1)}));
    });
  for (auto& writer : writers) writer.join();
  for (int k = 0; k < many; ++k) {
    const auto found = recall(winners_file(), {std::uint64_t(k), "cpu", "1"});
    ASSERT_TRUE(found);
    EXPECT_DOUBLE_EQ(found->seconds, 1e-6 * (k + 1));
  }
}

TEST_F(winners, a_line_that_this_build_would_not_write_is_measured_anew) {
  const auto a = kit::laplacian(30, 30);
  const auto s = measure(a);
  tune(a, s, {});
  std::string line;
  std::getline(std::ifstream(winners_file()) >> std::ws, line);
  const std::size_t values = line.find('\t', line.find('\t', line.find('\t') + 1) + 1) + 1;
  for (const char* wrong :
       {"none\tnone\t1e-9", "csr\tnone\t1e-9", "sell:0:0\tslices\t1e-9", "sell:999999999\tslices\t1e-9",
        "auto\tauto\t1e-9", "csr\trows\tinf", "csr\trows\tnan", "csr\trows\t0", "csr", "\t\t"}) {
    std::ofstream(winners_file()) << line.substr(0, values) << wrong << "\n";
    EXPECT_NE(tune(a, s, {}).reason.find("measured: fastest of"), std::string::npos) << wrong;
    EXPECT_NE(tune(a, s, {}).reason.find("measured before"), std::string::npos) << wrong;
    std::ifstream in(winners_file());
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(std::ranges::count(all, '\n'), 1) << wrong << ": " << all;
  }
}

TEST_F(winners, tune_respects_a_named_format) {
  const auto a = kit::laplacian(20, 20);
  EXPECT_EQ(tune(a, measure(a), {}, {"coo", "auto"}).format->name, "coo");
}

} // namespace
} // namespace furrow
