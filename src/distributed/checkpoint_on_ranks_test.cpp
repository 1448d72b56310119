// SPDX-License-Identifier: BSD-3-Clause
#include "metis.hpp"

#include "io/io_test_kit.hpp"
#include "kit/cuts.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/checkpoint.hpp>
#include <furrow/generate.hpp>
#include <furrow/load_on_ranks.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <mutex>

namespace furrow {
namespace {

using io_test::bytes_of;

class checkpoints_on_ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, checkpoints_on_ranks, testing::ValuesIn(kit::numbers_of_ranks));

/// Of a matrix of n columns that nobody has.
checkpoint some_checkpoint(index_t n) {
  return {{n, n, 5 * n, 0x1234567890ABCDEF, 42}, "gmres:30", "local:ilu", 123, 4.5, 1e-3, {}};
}

cview<double> part_of(const host_array<double>& x, const std::vector<index_t>& begins, const communicator& c) {
  const auto me = static_cast<std::size_t>(c.rank());
  return {x.data() + begins[me], begins[me + 1] - begins[me]};
}

/// What all ranks say alike.
std::string write(const checkpoint& now, const host_array<double>& x, const std::vector<index_t>& begins,
                  const std::string& file) {
  return kit::sentence_of_ranks(int(begins.size()) - 1, [&](communicator& c) {
    const bool first = c.rank() == 0;
    write_checkpoint_on_ranks(c, first ? now : checkpoint{}, part_of(x, begins, c), first ? file : "of nobody");
  });
}

TEST_P(checkpoints_on_ranks, have_the_bytes_that_one_writes) {
  const io_test::folder here;
  const std::string alone = here / "alone.ckpt", file = here / "run.ckpt";
  for (const index_t n : {0, 1, 2, 9, 32768, 100001}) {
    host_array<double> x = kit::random_vector<double>(n, 3);
    if (n > 2) x[1] = -0.0, x[2] = 5e-324;
    write_checkpoint(some_checkpoint(n), as_cview(x), alone);
    for (const auto& begins : kit::cuts(n, GetParam())) {
      io_test::put_file(file, "old");
      EXPECT_EQ(write(some_checkpoint(n), x, begins, file), "");
      EXPECT_EQ(bytes_of(file), bytes_of(alone)) << n;
    }
  }
  EXPECT_EQ(here.files(), 2u);
}

TEST_P(checkpoints_on_ranks, come_back_in_other_parts) {
  const io_test::folder here;
  const std::string file = here / "run.ckpt";
  const index_t sizes[] = {0, 1, 5, 65536, (index_t(1) << 20) + 70000};
  for (const index_t n : sizes) {
    const auto x = kit::random_vector<double>(n, 3);
    const checkpoint saved = some_checkpoint(n);
    write_checkpoint(saved, as_cview(x), file);
    for (const auto& begins : kit::cuts(n, GetParam()))
      run_ranks(GetParam(), [&](communicator& c) {
        const cview<double> mine = part_of(x, begins, c);
        const bool first = c.rank() == 0;
        const checkpoint back =
            read_checkpoint_on_ranks(c, first ? file : "", first ? saved.system : system_fingerprint{}, mine.size);
        EXPECT_EQ(back.system, saved.system);
        EXPECT_EQ(back.solver, saved.solver);
        EXPECT_EQ(back.precond, saved.precond);
        EXPECT_EQ(back.iterations, saved.iterations);
        EXPECT_EQ(back.seconds, saved.seconds);
        EXPECT_EQ(back.relative_residual, saved.relative_residual);
        ASSERT_EQ(back.x.size(), mine.size);
        EXPECT_TRUE(std::ranges::equal(back.x, mine));
      });
  }
}

/// What one says who reads and compares, and what all ranks say.
void expect_one_sentence(int ranks, const std::string& file, const system_fingerprint& system,
                         const std::string& what) {
  const std::string one = io_test::refusal([&] { check_is_of(read_checkpoint(file), system, file); });
  std::mutex lock;
  run_ranks(ranks, [&](communicator& c) {
    const bool first = c.rank() == 0;
    const std::string said = kit::said_by(fault::input, [&] {
      read_checkpoint_on_ranks(c, first ? file : "", first ? system : system_fingerprint{},
                               first ? system.cols : index_t(0));
    });
    const std::lock_guard locked(lock);
    EXPECT_EQ(said, one) << what << ", rank " << c.rank();
  });
}

TEST_P(checkpoints_on_ranks, are_refused_in_the_words_of_one) {
  const io_test::folder here;
  const std::string file = here / "run.ckpt";
  const index_t n = 1000;
  const auto x = kit::random_vector<double>(n, 3);
  const checkpoint saved = some_checkpoint(n);
  write_checkpoint(saved, as_cview(x), file);
  const std::string good = bytes_of(file);
  for (const std::size_t at : {0, 9, 40, 200, 217, 224, 4000, 8223}) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    io_test::put_file(file, bytes);
    expect_one_sentence(GetParam(), file, saved.system, "byte " + std::to_string(at));
  }
  for (const std::size_t size : {std::size_t(0), std::size_t(100), good.size() - 1}) {
    io_test::put_file(file, good.substr(0, size));
    expect_one_sentence(GetParam(), file, saved.system, std::to_string(size) + " bytes");
  }
  io_test::put_file(file, good);
  system_fingerprint other = saved.system;
  for (std::uint64_t* const part : {&other.rhs, &other.matrix}) {
    ++*part;
    expect_one_sentence(GetParam(), file, other, "another system");
  }
  ++other.entries;
  expect_one_sentence(GetParam(), file, other, "more entries");
  ++other.cols;
  expect_one_sentence(GetParam(), file, other, "more columns");
  expect_one_sentence(GetParam(), here / "absent.ckpt", saved.system, "absent");
  io_test::put_file(file, good.substr(0, good.size() - 1) + '\x55');
  expect_one_sentence(GetParam(), file, other, "of another system, and damaged");
}

TEST_P(checkpoints_on_ranks, leave_the_old_one_where_they_cannot_be_written) {
  const io_test::folder here;
  const std::string absent = here / "absent" / "run.ckpt";
  const auto begins = kit::cuts(100, GetParam()).front();
  const host_array<double> x(100, 1.0);
  EXPECT_EQ(write(some_checkpoint(100), x, begins, absent), absent + ": cannot be written: its folder does not exist");
  io_test::put_file(here / "run.ckpt", "old");
  EXPECT_EQ(write(some_checkpoint(99), x, begins, here / "run.ckpt"), "x has 100 elements for a matrix of 99 columns");
  EXPECT_EQ(bytes_of(here / "run.ckpt"), "old");
  EXPECT_EQ(here.files(), 1u);
}

/// Springs of a ring, and soft ones across it: steps with a diagonal get nowhere, and no factors are sparse, so that
/// the first rank goes on alone by iterations.
coo<double> ring_with_chords() {
  constexpr index_t n = 4000;
  constexpr double soft = 1e-6;
  std::vector<kit::triplet> entries;
  const auto join = [&](index_t i, index_t j, double k) {
    entries.insert(entries.end(), {{i, i, k}, {j, j, k}, {i, j, -k}, {j, i, -k}});
  };
  kit::splitmix random(5);
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 1e-4 * soft});
    if (i > 0) join(i, i - 1, 1);
    for (int k = 0; k < 3; ++k)
      if (const index_t j = random.below(n); j != i) join(i, j, soft);
  }
  return kit::assemble({n, n}, entries);
}

coo<double> part_between(const coo<double>& a, index_t first, index_t last) {
  std::vector<kit::triplet> mine;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
  return kit::assemble({last - first, a.shape.cols}, mine);
}

struct solved_in_parts {
  host_array<double> b, x;
  ranks_report on;
};

/// Of a system of which each rank has a part, with a random b. `finished(c, report, mine)`: on all ranks.
template <class F>
solved_in_parts solve_in_parts(int ranks, const coo<double>& a, const solve_options& o, partition how, F finished) {
  const index_t n = a.shape.rows;
  solved_in_parts s{kit::random_vector<double>(n, 7), host_array<double>(n, 0.0), {}};
  const std::vector<index_t> begins = kit::cuts(n, ranks).front();
  run_ranks(ranks, [&](communicator& c) {
    const cview<double> b = part_of(s.b, begins, c);
    const index_t first = b.data - s.b.data();
    const view<double> x(s.x.data() + first, b.size);
    ranks_report said = solve_rows_in_parts<double>(c, part_between(a, first, first + b.size), b, x,
                                                    c.rank() == 0 ? o : solve_options{}, how);
    finished(c, said.report, as_cview(x));
    if (c.rank() == 0) s.on = std::move(said);
  });
  return s;
}

std::vector<partition> ways_to_cut() {
  return has_metis() ? std::vector{partition::rows, partition::metis} : std::vector{partition::rows};
}

/// A keeper is told of x in parts, and whom it asks of all of x: the file has the x that that one sees.
void expect_kept(int ranks, const coo<double>& a, solve_options o, partition how, bool alone) {
  const io_test::folder here;
  const std::string file = here / "run.ckpt";
  int told = 0, told_of_next_rung = 0;
  host_array<double> last;
  progress at;
  o.monitor = [&](const progress& p, cview<double> x) {
    EXPECT_TRUE(std::ranges::equal(read_checkpoint(file).x, x));
    last = host_array<double>(x.size);
    std::ranges::copy(x, last.begin());
    told_of_next_rung += p.iteration < at.iteration;
    at = p;
    return ++told < 1000;
  };
  checkpoint_keeper keeper(file, 1e-9, {.system = {.rows = a.shape.rows, .cols = a.shape.cols}});
  keeper.watch(o);
  const auto s = solve_in_parts(ranks, a, o, how, [&](communicator& c, const solve_report& r, cview<double> x) {
    EXPECT_EQ(checkpoint_keeper::finish_on_ranks(c, c.rank() == 0 ? &keeper : nullptr, r, x), "");
  });
  EXPECT_EQ(s.on.report.why, status::converged) << s.on.report.message;
  EXPECT_EQ(!s.on.gathered.empty(), alone) << s.on.gathered;
  EXPECT_EQ(told_of_next_rung > 0, alone);
  EXPECT_GE(told, 2);
  EXPECT_EQ(keeper.written(), told + 1);
  const auto truth = kit::true_residual(a, as_cview(s.b), as_cview(last));
  EXPECT_NEAR(at.relative_residual, double(truth.norm / truth.norm_b),
              0.2 * at.relative_residual); // by the recurrence, which rounds elsewhere; another order is 1e5 off
  EXPECT_TRUE(kit::same_bits(read_checkpoint(file).x, s.x));
}

TEST_P(checkpoints_on_ranks, are_in_the_callers_order_while_ranks_solve_and_at_their_end) {
  for (const partition how : ways_to_cut()) {
    expect_kept(GetParam(), generate("poisson2d:40").a, kit::options("cg", "none", 1e-6), how, false);
    expect_kept(GetParam(), generate("convection2d:40:10").a, kit::options("gmres:20", "jacobi", 1e-6), how, false);
  }
}

TEST_P(checkpoints_on_ranks, are_in_the_callers_order_where_the_first_rank_solves_alone) {
  for (const partition how : ways_to_cut())
    expect_kept(GetParam(), ring_with_chords(), kit::options("auto", "auto", 1e-6), how, true);
}

TEST_P(checkpoints_on_ranks, stop_the_solve_where_one_who_is_asked_says_so) {
  const io_test::folder here;
  solve_options o = kit::options("cg", "none", 1e-12);
  o.monitor = [](const progress&, cview<double>) { return false; };
  checkpoint_keeper first(here / "first.ckpt", 1e-9, {.system = {.rows = 1600, .cols = 1600}});
  checkpoint_keeper second(here / "second.ckpt", 1e-9, {.system = {.rows = 1600, .cols = 1600}});
  first.watch(o), second.watch(o); // which asks the first one
  const auto s = solve_in_parts(GetParam(), generate("poisson2d:40").a, o, partition::rows,
                                [](communicator&, const solve_report&, cview<double>) {});
  EXPECT_EQ(s.on.report.why, status::interrupted);
  EXPECT_EQ(first.written(), 1);
  EXPECT_EQ(second.written(), 1);
  EXPECT_EQ(bytes_of(here / "first.ckpt").substr(224), bytes_of(here / "second.ckpt").substr(224));
}

TEST_P(checkpoints_on_ranks, keep_no_end_that_is_not_finite) {
  const io_test::folder here;
  checkpoint_keeper keeper(here / "run.ckpt", 1, {.system = {.rows = 2 * GetParam(), .cols = 2 * GetParam()}});
  run_ranks(GetParam(), [&](communicator& c) {
    const bool last = c.rank() == c.size() - 1;
    host_array<double> x(2, last ? std::numeric_limits<double>::quiet_NaN() : 1.0);
    checkpoint_keeper::finish_on_ranks(c, c.rank() == 0 ? &keeper : nullptr, {}, as_cview(x));
  });
  EXPECT_EQ(keeper.written(), 0);
  EXPECT_EQ(here.files(), 0u);
}

} // namespace
} // namespace furrow
