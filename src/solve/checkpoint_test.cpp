// SPDX-License-Identifier: BSD-3-Clause
#include "io/io_test_kit.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "kit/said_by.hpp"

#include <furrow/checkpoint.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace furrow {
namespace {

struct system_of_test {
  coo<double> a = generate("poisson2d:40").a;
  host_array<double> b = kit::random_vector<double>(a.shape.rows, 5);
  system_fingerprint print() const { return fingerprint(a, as_cview(b)); }
};

solve_options plain_cg() { return kit::options("cg", "none", 1e-10); }

std::string sentence_of(const auto& f) { return kit::said_by(fault::input, f); }

std::string bytes_of_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

checkpoint some_checkpoint(const system_of_test& s) {
  return {s.print(), "cg", "jacobi", 123, 4.5, 1e-3, kit::random_vector<double>(s.a.shape.rows, 9)};
}

TEST(checkpoints, come_back_as_they_were_written) {
  const io_test::folder there;
  const auto file = there.path / "run.ckpt";
  const system_of_test s;
  const checkpoint saved = some_checkpoint(s);
  write_checkpoint(saved, as_cview(saved.x), file);
  const checkpoint back = read_checkpoint(file);
  EXPECT_EQ(back.system, saved.system);
  EXPECT_EQ(back.solver, "cg");
  EXPECT_EQ(back.precond, "jacobi");
  EXPECT_EQ(back.iterations, 123);
  EXPECT_EQ(back.seconds, 4.5);
  EXPECT_EQ(back.relative_residual, 1e-3);
  EXPECT_TRUE(kit::same_bits(back.x, saved.x));
  check_is_of(back, s.print(), file);
}

TEST(checkpoints, that_are_damaged_in_any_byte_or_cut_anywhere_are_refused) {
  const io_test::folder there;
  const auto file = there.path / "run.ckpt", broken = there.path / "broken.ckpt";
  const system_of_test s;
  const checkpoint saved = some_checkpoint(s);
  write_checkpoint(saved, as_cview(saved.x), file);
  const std::string good = bytes_of_file(file);
  ASSERT_EQ(good.size(), 224 + 8 * static_cast<std::size_t>(s.a.shape.cols));
  const auto refused = [&](const std::string& bytes, const std::string& what) {
    std::ofstream(broken, std::ios::binary) << bytes;
    const std::string said = sentence_of([&] { read_checkpoint(broken); });
    EXPECT_NE(said.find("broken.ckpt: "), std::string::npos) << what << ": '" << said << "'";
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  };
  for (std::size_t at = 0; at < good.size(); at += at < 224 ? 1 : 97)
    for (const int bit : {0, 7}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ 1 << bit);
      refused(bytes, "bit " + std::to_string(bit) + " of byte " + std::to_string(at));
    }
  for (std::size_t size = 0; size < good.size(); size += size < 230 ? 1 : 101)
    refused(good.substr(0, size), std::to_string(size) + " bytes");
  refused(good + '\0', "a byte more");
}

TEST(checkpoints, of_another_system_are_refused_with_what_differs) {
  const system_of_test s;
  checkpoint saved = some_checkpoint(s);
  const auto says = [&](const coo<double>& a, const host_array<double>& b) {
    return sentence_of([&] { check_is_of(saved, fingerprint(a, as_cview(b)), "run.ckpt"); });
  };
  EXPECT_EQ(says(s.a, s.b), "");
  const auto small = generate("poisson2d:39").a;
  EXPECT_EQ(says(small, host_array<double>(small.shape.rows, 1.0)),
            "run.ckpt: is a checkpoint of a matrix of 1600 x 1600, but this one is 1521 x 1521");
  const auto other = generate("stencil2d9:40").a;
  EXPECT_EQ(says(other, s.b), "run.ckpt: is a checkpoint of a matrix of 7840 entries, but this one has 13924");
  auto value = s.a;
  value.val[777] = std::nextafter(value.val[777], 10.0);
  EXPECT_EQ(says(value, s.b), "run.ckpt: is a checkpoint of another matrix of the same size: some entry differs");
  auto with_zeros = generate("elasticity3d:2").a; // of which `dense` gives none back
  const host_array<double> loads(with_zeros.shape.rows, 1.0);
  const system_fingerprint all = fingerprint(with_zeros, as_cview(loads));
  coo<double> without{with_zeros.shape, {}, {}, {}};
  std::vector<index_t> kept;
  for (index_t k = 0; k < with_zeros.nnz(); ++k)
    if (with_zeros.val[k] != 0) kept.push_back(k);
  ASSERT_LT(index_t(kept.size()), with_zeros.nnz());
  const auto count = index_t(kept.size());
  without.row = host_array<std::int32_t>(count), without.col = host_array<std::int32_t>(count);
  without.val = host_array<double>(count);
  for (index_t k = 0; k < count; ++k) {
    const index_t from = kept[std::size_t(k)];
    without.row[k] = with_zeros.row[from], without.col[k] = with_zeros.col[from];
    without.val[k] = with_zeros.val[from];
  }
  EXPECT_EQ(fingerprint(without, as_cview(loads)), all);
  auto place = s.a;
  std::swap(place.val[4], place.val[5]);
  EXPECT_NE(says(place, s.b), "");
  auto b = s.b;
  b[1599] = -b[1599];
  EXPECT_EQ(
      says(s.a, b),
      "run.ckpt: is a checkpoint of the same matrix with another right-hand side: its x may serve as the first guess");
}

TEST(checkpoints, have_one_fingerprint_whole_and_in_parts) {
  const system_of_test s;
  for (const int ranks : kit::numbers_of_ranks)
    run_ranks(ranks, [&](communicator& c) {
      const index_t n = s.a.shape.rows, first = n * c.rank() / c.size(), last = n * (c.rank() + 1) / c.size();
      std::vector<kit::triplet> mine;
      for (index_t k = 0; k < s.a.nnz(); ++k)
        if (s.a.row[k] >= first && s.a.row[k] < last) mine.push_back({s.a.row[k] - first, s.a.col[k], s.a.val[k]});
      const auto rows = kit::assemble({last - first, n}, mine);
      EXPECT_EQ(fingerprint(c, rows, cview<double>(s.b.data() + first, last - first)), s.print());
    });
}

/// Runs to some steps with a checkpoint at each chunk, then goes on from the file; returns the second report.
solve_report interrupted_and_resumed(int first_ranks, int then_ranks, const char* solver) {
  const io_test::folder there;
  const auto file = there.path / "run.ckpt";
  const system_of_test s;
  solve_options o = plain_cg();
  o.solver = solver;
  const auto solve_with = [&](int ranks, const solve_options& with, host_array<double>& x) {
    if (ranks == 0) return solve<double>(s.a, as_cview(s.b), as_view(x), with);
    auto solved = kit::solve_on_ranks<double>(ranks, s.a, s.b, with, std::move(x));
    x = std::move(solved.x);
    return std::move(solved.on.report);
  };
  host_array<double> x(s.a.shape.rows, 0.0);
  solve_options limited = o;
  limited.max_iterations = 20;
  checkpoint_keeper keeper(file, 1e-9, {.system = s.print(), .solver = solver, .precond = "none"});
  keeper.watch(limited);
  const solve_report stopped = solve_with(first_ranks, limited, x);
  EXPECT_EQ(stopped.why, status::max_iterations) << stopped.message;
  EXPECT_GE(keeper.written(), 2);
  const checkpoint running = read_checkpoint(file); // of the loop, not of its end
  EXPECT_GT(running.iterations, 0);
  EXPECT_LE(running.iterations, 20);
  keeper.finish(stopped, as_cview(x));

  checkpoint saved = read_checkpoint(file);
  EXPECT_EQ(saved.iterations, 20);
  check_is_of(saved, s.print(), file);
  const auto residual = kit::true_residual(s.a, as_cview(s.b), as_cview(saved.x));
  EXPECT_NEAR(saved.relative_residual, double(residual.norm / residual.norm_b), 1e-6 * saved.relative_residual);
  host_array<double> again = std::move(saved.x);
  solve_options onward = o;
  checkpoint_keeper second(file, 1e-9,
                           {saved.system, saved.solver, saved.precond, saved.iterations, saved.seconds, 0, {}});
  second.watch(onward);
  solve_report report = solve_with(then_ranks, onward, again);
  second.finish(report, as_cview(again));
  EXPECT_EQ(report.why, status::converged) << report.message;
  EXPECT_NEAR(report.history.front(), saved.relative_residual, 1e-6 * saved.relative_residual);
  EXPECT_EQ(read_checkpoint(file).iterations, 20 + report.iterations);
  EXPECT_GE(read_checkpoint(file).seconds, saved.seconds);
  return report;
}

TEST(checkpoints, let_a_solve_go_on_with_another_number_of_ranks) {
  for (const int first : {0, 1, 2, 3, 4, 7})
    for (const int then : {0, 1, 3}) {
      SCOPED_TRACE(std::to_string(first) + " ranks, then " + std::to_string(then));
      interrupted_and_resumed(first, then, "cg");
    }
}

TEST(checkpoints, are_kept_by_methods_whose_x_lags_behind) {
  for (const char* solver : {"gmres:30", "minres", "bicgstab", "idr", "fgmres:30", "cg_single_reduction"})
    for (const int ranks : {0, 3}) {
      SCOPED_TRACE(solver);
      interrupted_and_resumed(ranks, 0, solver);
    }
}

TEST(checkpoints, leave_the_steps_as_they_are) {
  const io_test::folder there;
  const system_of_test s;
  for (const char* solver : {"cg", "gmres:20", "bicgstab", "idr"}) {
    solve_options o = plain_cg();
    o.solver = solver;
    host_array<double> without(s.a.shape.rows, 0.0), with = without;
    const auto first = solve<double>(s.a, as_cview(s.b), as_view(without), o);
    checkpoint_keeper keeper(there.path / "run.ckpt", 1e-9, {.system = s.print()});
    keeper.watch(o);
    const auto second = solve<double>(s.a, as_cview(s.b), as_view(with), o);
    EXPECT_GE(keeper.written(), 2) << solver;
    EXPECT_EQ(first.history, second.history) << solver;
    EXPECT_TRUE(kit::same_bits(without, with)) << solver;
  }
}

TEST(checkpoints, of_a_scaled_system_are_in_its_own_units) {
  const io_test::folder there;
  const auto file = there.path / "run.ckpt";
  system_of_test s;
  for (double& v : s.b) v *= 1e-200;
  solve_options o = plain_cg();
  o.max_iterations = 60;
  checkpoint_keeper keeper(file, 1e-9, {.system = s.print()});
  keeper.watch(o);
  for (const int ranks : {1, 3}) {
    kit::solve_on_ranks<double>(ranks, s.a, s.b, o);
    const checkpoint saved = read_checkpoint(file);
    const auto residual = kit::true_residual(s.a, as_cview(s.b), as_cview(saved.x));
    EXPECT_NEAR(saved.relative_residual, double(residual.norm / residual.norm_b), 1e-6 * saved.relative_residual);
  }
}

TEST(checkpoints, that_cannot_be_written_end_the_solve_or_are_told) {
  const io_test::folder there;
  const system_of_test s;
  for (const int ranks : kit::numbers_of_ranks) {
    solve_options o = plain_cg();
    checkpoint_keeper keeper(there.path / "absent" / "run.ckpt", 1e-9, {.system = s.print()});
    keeper.watch(o);
    host_array<double> x(s.a.shape.rows, 0.0);
    const std::string said = kit::sentence_of_ranks(ranks, [&](communicator& c) {
      if (c.rank() == 0) solve_from_first<double>(c, s.a, as_cview(s.b), as_view(x), o);
      else solve_from_first<double>(c, {}, {}, {}, {});
    });
    EXPECT_NE(said.find("run.ckpt: "), std::string::npos) << said;
    int failures = 0;
    keeper.failed = [&](const error&) { ++failures; };
    EXPECT_EQ(kit::solve_on_ranks<double>(ranks, s.a, s.b, o).report().why, status::converged);
    EXPECT_GT(failures, 0);
    EXPECT_EQ(keeper.written(), 0);
  }
}

TEST(checkpoints, stop_where_the_monitor_says_so_on_all_ranks) {
  const system_of_test s;
  for (const int ranks : kit::numbers_of_ranks) {
    solve_options o = plain_cg();
    o.monitor_every = 7;
    int told = 0;
    o.monitor = [&](const progress& p, cview<double> x) {
      EXPECT_EQ(p.iteration % 7, 0);
      EXPECT_EQ(x.size, s.a.shape.rows);
      const auto residual = kit::true_residual(s.a, as_cview(s.b), x);
      EXPECT_NEAR(p.relative_residual, double(residual.norm / residual.norm_b), 1e-6 * p.relative_residual);
      return ++told < 3;
    };
    const auto stopped = kit::solve_on_ranks<double>(ranks, s.a, s.b, o);
    EXPECT_EQ(stopped.report().why, status::interrupted);
    EXPECT_EQ(stopped.report().iterations, 21);
  }
}

TEST(checkpoints, refuse_what_is_no_vector_of_the_system_and_no_number_so_far) {
  const io_test::folder there;
  const system_of_test s;
  const auto said = [](auto f) { return kit::said_by(fault::usage, f); };
  EXPECT_EQ(said([&] {
              fingerprint<double>(s.a, {s.b.data(), 3});
            }),
            "b has 3 elements for a matrix of 1600 rows: give one for each");
  EXPECT_EQ(said([&] { fingerprint<double>(s.a, {nullptr, 1600}); }), "b points nowhere, but has 1600 elements");
  EXPECT_EQ(kit::sentence_of_ranks(2,
                                   [&](communicator& c) {
                                     fingerprint<double>(c, s.a, {s.b.data(), 3});
                                   }),
            "b has 3 elements for a matrix of 1600 rows: give one for each");
  checkpoint_keeper keeper(there.path / "run.ckpt", 1, {.system = s.print()});
  EXPECT_EQ(said([&] { keeper.finish({}, {nullptr, 1600}); }), "x points nowhere, but has 1600 elements");
  checkpoint now = some_checkpoint(s);
  const auto writing = [&] { return said([&] { write_checkpoint(now, as_cview(now.x), there.path / "run.ckpt"); }); };
  now.iterations = -5;
  EXPECT_EQ(writing(), "a checkpoint after -5 iterations and 4.5 seconds: give numbers of 0 or more");
  now.iterations = 5, now.seconds = std::nan("");
  EXPECT_EQ(writing(), "a checkpoint after 5 iterations and nan seconds: give numbers of 0 or more");
}

TEST(checkpoints, refuse_intervals_that_are_none) {
  for (const double every :
       {0.0, -1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(checkpoint_keeper("run.ckpt", every, {}), error) << every;
}

TEST(checkpoints, go_to_the_ranks_that_have_the_rows) {
  const auto x = kit::random_vector<double>(100, 3);
  for (const int ranks : kit::numbers_of_ranks)
    run_ranks(ranks, [&](communicator& c) {
      const index_t first = 100 * c.rank() / c.size(), last = 100 * (c.rank() + 1) / c.size();
      host_array<double> mine(last - first);
      scatter_from_first<double>(c, c.rank() == 0 ? as_cview(x) : cview<double>{}, as_view(mine));
      EXPECT_TRUE(std::equal(mine.begin(), mine.end(), x.begin() + first));
    });
  EXPECT_EQ(kit::sentence_of_ranks(2,
                                   [&](communicator& c) {
                                     host_array<double> mine(60);
                                     scatter_from_first<double>(c, as_cview(x), as_view(mine));
                                   }),
            "rank 0: the vector has 100 elements for 120 on all ranks together: give one for each");
}

} // namespace
} // namespace furrow
