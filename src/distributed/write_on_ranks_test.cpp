// SPDX-License-Identifier: BSD-3-Clause
#include "write_on_ranks.hpp"

#include "io/io_test_kit.hpp"
#include "io/vector_format.hpp"
#include "kit/cuts.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/load_on_ranks.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <fcntl.h>
#include <limits>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace furrow {
namespace {

using io_test::bytes_of;

class writing_on_ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, writing_on_ranks, testing::ValuesIn(kit::numbers_of_ranks));

constexpr const char* endings[] = {".mtx", ".mtx.gz", ".npy", ".petsc", ".txt", ".txt.gz", ".csv", ".csv.gz"};

/// Numbers whose digits are of many lengths.
host_array<double> numbers(index_t n) {
  host_array<double> x = kit::random_vector<double>(n, 11);
  for (index_t k = 0; k < n; k += 3) x[k] = double(k % 100);
  if (n > 5) x[1] = std::numeric_limits<double>::quiet_NaN(), x[2] = -0.0, x[4] = 5e-324;
  return x;
}

/// Writes x in parts; returns what `write_parts` says on all ranks alike.
std::string write(const host_array<double>& x, const std::vector<index_t>& begins, const std::string& file,
                  const part_opener& opens = usual_opener()) {
  std::mutex one;
  std::vector<std::string> said;
  run_ranks(int(begins.size()) - 1, [&](communicator& c) {
    const auto me = static_cast<std::size_t>(c.rank());
    const cview<double> mine(x.data() + begins[me], begins[me + 1] - begins[me]);
    std::string text = write_parts(c, mine, c.rank() == 0 ? file : "rank 0 knows where", opens);
    const std::lock_guard lock(one);
    said.push_back(std::move(text));
  });
  for (const std::string& text : said) EXPECT_EQ(text, said.front());
  return said.front();
}

/// The files of a folder but for this one.
int others_in(const io_test::folder& here, const std::string& file = "") {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(here.path)) count += entry.path().string() != file;
  return count;
}

TEST_P(writing_on_ranks, makes_the_file_of_one) {
  const io_test::folder here;
  for (const index_t n : {index_t(0), index_t(1), index_t(5), io::vector_format::piece_numbers, index_t(100001)}) {
    const host_array<double> x = numbers(n);
    for (const char* ending : endings) {
      const std::string alone = here / (std::string("alone") + ending), file = here / (std::string("x") + ending);
      write_vector(as_cview(x), alone);
      for (const auto& begins : kit::cuts(n, GetParam())) {
        EXPECT_EQ(write(x, begins, file), "");
        EXPECT_EQ(bytes_of(file), bytes_of(alone)) << n << ending;
      }
      std::filesystem::remove(alone), std::filesystem::remove(file);
      EXPECT_EQ(others_in(here), 0);
    }
  }
}

TEST_P(writing_on_ranks, goes_over_the_first_one_where_others_do_not_see_the_folder) {
  const io_test::folder here;
  const host_array<double> x = numbers(300000);
  const int blind = GetParam() - 1;
  for (const char* ending : endings) {
    const std::string alone = here / (std::string("alone") + ending), file = here / (std::string("x") + ending);
    write_vector(as_cview(x), alone);
    std::atomic<int> opened = 0;
    const auto opens = [&](const std::string& name, const std::filesystem::path& beside, bool) {
      const bool here_too = ++opened < blind; // all but the last one
      return std::make_unique<io::part_of_atomic_file>(name, here_too ? beside : "/absent/x.part", true);
    };
    const auto begins = kit::cuts(x.size(), GetParam()).front();
    const std::string said = write(x, begins, file, opens);
    EXPECT_EQ(opened, blind);
    EXPECT_EQ(said.ends_with(" does not see its folder"), blind > 0) << said;
    EXPECT_EQ(bytes_of(file), bytes_of(alone)) << ending;
  }
}

TEST_P(writing_on_ranks, follows_its_order_into_a_pipe) {
  const io_test::folder here;
  const host_array<double> x = numbers(100001);
  const std::string alone = here / "alone.txt", pipe = here / "x.txt";
  write_vector(as_cview(x), alone);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string come;
  std::thread reader([&] { come = bytes_of(pipe); });
  EXPECT_EQ(write(x, kit::cuts(x.size(), GetParam()).front(), pipe), "");
  reader.join();
  EXPECT_EQ(come, bytes_of(alone));
}

TEST_P(writing_on_ranks, leaves_nothing_where_a_rank_has_no_room) {
  const io_test::folder here;
  const host_array<double> x = numbers(300000);
  if (GetParam() == 1) GTEST_SKIP() << "the first rank writes by itself";
  for (const char* ending : {".mtx", ".npy", ".csv.gz"}) {
    const std::string file = here / (std::string("x") + ending);
    io_test::put_file(file, "old");
    std::atomic<int> opened = 0;
    const auto opens = [&](const std::string& name, const std::filesystem::path& beside, bool apart) {
      return std::make_unique<io::part_of_atomic_file>(name, ++opened == 1 ? "/dev/full" : beside, apart);
    };
    std::string said;
    try {
      write(x, kit::cuts(x.size(), GetParam()).front(), file, opens);
    } catch (const error& e) {
      said = e.what();
      EXPECT_EQ(e.kind, fault::input);
    }
    EXPECT_EQ(said, file + ": cannot be written: No space left on device");
    EXPECT_EQ(bytes_of(file), "old");
    EXPECT_EQ(others_in(here, file), 0);
    std::filesystem::remove(file);
  }
}

TEST_P(writing_on_ranks, says_on_all_ranks_what_one_says) {
  const io_test::folder here;
  const host_array<double> x = numbers(1000);
  const auto says = [&](const std::string& file) {
    std::string one;
    EXPECT_THROW(
        try { write_vector(as_cview(x), file); } catch (const error& e) {
          one = e.what();
          throw;
        },
        error);
    std::mutex lock;
    run_ranks(GetParam(), [&](communicator& c) {
      std::string said;
      try {
        write_vector_on_ranks(c, c.rank() == 0 ? as_cview(x) : cview<double>{}, file);
      } catch (const error& e) {
        said = e.what();
      }
      const std::lock_guard locked(lock);
      EXPECT_EQ(said, one) << "rank " << c.rank();
    });
  };
  says(here / "absent" / "x.mtx");
  says(here.path.string());
  says(here / "x.mtx.xz");
  EXPECT_EQ(others_in(here), 0);
}

} // namespace
} // namespace furrow
