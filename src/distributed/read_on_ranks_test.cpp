// SPDX-License-Identifier: BSD-3-Clause
#include "io/io_test_kit.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/load_on_ranks.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <sys/stat.h>
#include <thread>

namespace furrow {
namespace {

using io_test::put_file;

class reading_on_ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, reading_on_ranks, testing::ValuesIn(kit::numbers_of_ranks));

/// Reads in parts, each rank with more rows than the one before.
host_array<double> read(const std::string& file, index_t n, int ranks) {
  host_array<double> x(n, -1.0);
  run_ranks(ranks, [&](communicator& c) {
    const index_t whole = index_t(ranks) * (ranks + 1) / 2, r = c.rank();
    const index_t first = n * (r * (r + 1) / 2) / whole, last = n * ((r + 1) * (r + 2) / 2) / whole;
    std::optional<source> from;
    if (r == 0) from.emplace(file);
    const auto mine = read_vector_on_ranks(c, from ? &*from : nullptr, last - first);
    ASSERT_EQ(mine.size(), last - first);
    std::ranges::copy(mine, x.begin() + first);
  });
  return x;
}

std::vector<double> listed(const host_array<double>& x) { return {x.begin(), x.end()}; }

TEST_P(reading_on_ranks, gives_each_its_numbers) {
  const io_test::folder here;
  for (const index_t n : {index_t(1), index_t(5), index_t(1) << 15, (index_t(1) << 20) + 77}) {
    const auto x = kit::random_vector<double>(n, 5);
    for (const char* ending : {".mtx", ".mtx.gz", ".npy", ".petsc", ".txt", ".csv.gz"}) {
      if (n > 1 << 20 && GetParam() % 2 == 0 && ending[1] != 'n') continue; // slow under sanitizers
      const std::string file = here / (std::string("x") + ending);
      write_vector(as_cview(x), file);
      EXPECT_TRUE(kit::same_bits(read(file, n, GetParam()), x)) << n << ending;
    }
  }
}

TEST_P(reading_on_ranks, takes_other_types_lists_of_places_and_pipes) {
  const io_test::folder here;
  put_file(here / "i.mtx", "%%MatrixMarket matrix array integer general\n3 1\n7\n-8\n9\n");
  put_file(here / "c.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 9\n1 1 3\n1 1 4\n");
  EXPECT_EQ(listed(read(here / "i.mtx", 3, GetParam())), (std::vector<double>{7, -8, 9}));
  EXPECT_EQ(listed(read(here / "c.mtx", 3, GetParam())), (std::vector<double>{7, 0, 9}));
  const std::string pipe = here / "p.txt";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { put_file(pipe, "1\n2\n3\n4\n"); });
  EXPECT_EQ(listed(read(pipe, 4, GetParam())), (std::vector<double>{1, 2, 3, 4}));
  writer.join();
}

TEST_P(reading_on_ranks, refuses_what_one_refuses_in_its_words) {
  const io_test::folder here;
  const std::string head = "%%MatrixMarket matrix array real general\n4 1\n";
  std::string npy = [&] {
    write_vector(as_cview(host_array<double>(4, 1.5)), here / "x.npy");
    return io_test::bytes_of(here / "x.npy");
  }();
  std::string petsc = [&] {
    write_vector(as_cview(host_array<double>(4, 1.5)), here / "x.petsc");
    return io_test::bytes_of(here / "x.petsc");
  }();
  for (const std::string& text :
       {head + "1\n2\n3\n", head + "1\n2\n3\n4\n5\n", head + "1\n2\nx\n4\n", std::string("1\n2\n3\n"),
        std::string("1\n2\n3\n4\n5\n"), std::string("1\n2\ntwo\n4\n"), std::string(),
        std::string("%%MatrixMarket matrix array real general\n5 1\n1\n2\n3\n4\n5\n"), npy.substr(0, npy.size() - 3),
        npy + "x", npy.substr(0, 50), petsc.substr(0, petsc.size() - 1), petsc + "12345678",
        std::string("a word of no meaning\n")}) {
    const std::string file = here / "x";
    put_file(file, text);
    const std::string one = io_test::refusal([&] { read_vector(file, 4); });
    EXPECT_EQ(kit::sentence_of_ranks(GetParam(),
                                     [&](communicator& c) {
                                       std::optional<source> from;
                                       if (c.rank() == 0) from.emplace(file);
                                       read_vector_on_ranks(c, from ? &*from : nullptr, c.rank() == 0 ? 4 : 0);
                                     }),
              one)
        << text;
  }
  put_file(here / "two.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n");
  EXPECT_EQ(kit::sentence_of_ranks(GetParam(),
                                   [&](communicator& c) {
                                     std::optional<source> from;
                                     if (c.rank() == 0) from.emplace(here / "two.mtx");
                                     read_vector_on_ranks(c, from ? &*from : nullptr, c.rank() == 0 ? 2 : 0);
                                   }),
            (here / "two.mtx").string() + (": holds 2 vectors: ranks solve for one right-hand side"));
}

} // namespace
} // namespace furrow
