// SPDX-License-Identifier: BSD-3-Clause
#include "amg_on_ranks.hpp"

#include "coarsening.hpp"
#include "loose_rows.hpp"
#include "spectrum.hpp"

#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "preconditioners/amg/diagonal.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow {
namespace {

solve_options amg_cg(double rtol = 1e-8, const char* precond = "amg:sa") {
  solve_options o;
  o.solver = "cg", o.precond = precond, o.rtol = rtol;
  return o;
}

/// f(communicator, rows of this rank, its first row) on ranks that have about as many rows each.
void on_ranks(int ranks, const coo<double>& a, const auto& f) {
  run_ranks(ranks, [&](communicator& c) {
    const index_t n = a.shape.rows, first = n * c.rank() / c.size(), last = n * (c.rank() + 1) / c.size();
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
    f(c, kit::assemble({last - first, n}, mine), first);
  });
}

/// z = M r, put together from the parts of all ranks; levels of more than `gathered` rows lie among them.
template <class V = double>
host_array<double> applied(int ranks, const coo<double>& a, const host_array<double>& r, index_t gathered, int degree,
                           std::string* about = nullptr) {
  host_array<double> z(r.size());
  on_ranks(ranks, a, [&](communicator& c, const coo<double>& rows, index_t first) {
    const index_t n = rows.shape.rows;
    const coo<V> narrow = kit::as_precision<V>(rows);
    const auto m = amg_on_ranks<V>(c, narrow, degree, gathered);
    host_array<V> own(n), image(n);
    for (index_t i = 0; i < n; ++i) own[i] = static_cast<V>(r[first + i]);
    m->apply(as_cview(own), as_view(image));
    for (index_t i = 0; i < n; ++i) z[first + i] = double(image[i]);
    if (about && c.rank() == 0) *about = m->describe();
  });
  return z;
}

double dot_of(const host_array<double>& x, const host_array<double>& y) {
  double sum = 0;
  for (index_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

TEST(amg_on_ranks, is_symmetric_and_definite) {
  for (const char* spec : {"poisson2d:40", "anisotropic2d:40:0.01", "poisson3d:12"}) {
    const auto a = generate(spec).a;
    const auto x = kit::random_vector<double>(a.shape.rows, 1), y = kit::random_vector<double>(a.shape.rows, 2);
    for (const int ranks : kit::numbers_of_ranks)
      for (const int degree : {1, 2, 3}) {
        std::string about;
        const auto mx = applied(ranks, a, x, 100, degree, &about), my = applied(ranks, a, y, 100, degree);
        const double size = std::sqrt(dot_of(mx, mx) * dot_of(y, y));
        EXPECT_NEAR(dot_of(mx, y), dot_of(x, my), 1e-6 * size) << spec << " on " << ranks << ": " << about;
        EXPECT_GT(dot_of(mx, x), 0);
        EXPECT_GT(dot_of(my, y), 0);
        EXPECT_NE(about.find(" of them among the ranks"), std::string::npos) << about;
      }
  }
}

/// One level among the ranks at least, or it would be the same everywhere by itself.
TEST(amg_on_ranks, takes_about_as_many_iterations_as_one_rank) {
  struct one {
    const char* spec;
    double most; ///< times those of one rank without ranks
  };
  for (const auto& [spec, most] : {one{"poisson3d:20", 1.1}, one{"poisson2d:90", 1.1}, one{"poisson2d:200", 1.1},
                                   one{"stencil3d27:18", 1.1}, one{"anisotropic2d:80:0.01", 1.2}}) {
    const auto a = generate(spec).a;
    const auto b = kit::times<double>(a, kit::random_vector<double>(a.shape.cols, 7));
    const auto alone = kit::solve_honestly<double>(a, b, amg_cg());
    ASSERT_EQ(alone.report.why, status::converged);
    for (const int ranks : kit::numbers_of_ranks) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b, amg_cg());
      EXPECT_EQ(s.report().why, status::converged) << s.report().message;
      EXPECT_LE(double(s.report().iterations), most * double(alone.report.iterations) + 1)
          << spec << " on " << ranks << ": " << s.report().precond_about;
      EXPECT_GE(s.report().levels.size(), 2u);
      EXPECT_EQ(s.report().levels[0].rows, a.shape.rows);
      EXPECT_EQ(s.report().levels[0].entries, a.nnz());
    }
  }
}

TEST(amg_on_ranks, has_the_same_bits_on_every_run_and_for_any_number_of_threads) {
  const auto a = generate("poisson3d:18").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const int before = threads();
  for (const int ranks : {1, 2, 3, 7}) {
    set_threads(1);
    const auto first = kit::solve_on_ranks<double>(ranks, a, b, amg_cg());
    set_threads(2 * ranks);
    const auto second = kit::solve_on_ranks<double>(ranks, a, b, amg_cg());
    EXPECT_TRUE(kit::same_bits(first.x, second.x)) << ranks;
    EXPECT_EQ(first.report().history, second.report().history);
  }
  set_threads(before);
}

/// Rows of a rank, whose columns get the numbers that all have: `first` is that of the first own one.
coo<double> with_columns_of_all(const row_matrix<double>& a, index_t own, index_t first, cview<std::int32_t> others) {
  coo<double> all = to_triplets(row_matrix<double>(
      {a.shape, host_array<index_t>(a.row_ptr), host_array<std::int32_t>(a.col), host_array<double>(a.val)}));
  for (std::int32_t& j : all.col) j = j < own ? j + static_cast<std::int32_t>(first) : others[j - own];
  return all;
}

/// P'A P is what one rank would work out from the P of all, and R is P'.
TEST(amg_on_ranks, multiplies_the_coarse_matrix_across_ranks) {
  const auto a = generate("poisson2d:30").a;
  for (const int ranks : kit::numbers_of_ranks) {
    coo<double> whole_p, whole_r, whole_c;
    bool reaches_out = false;
    on_ranks(ranks, a, [&](communicator& c, coo<double> mine, index_t first) {
      const auto rows = take_apart_rows(c, std::move(mine));
      const index_t n = rows.own.shape.rows;
      host_array<double> inverse(n, 0.25);
      const auto to = amg::coarsen_on_ranks(c, rows, inverse, 0.08, 2.0 / 3, 1e9);
      std::vector<index_t> begins{0}, fine{0};
      const index_t own = to.r.shape.rows;
      for (const index_t count : gather_each(c, own)) begins.push_back(begins.back() + count);
      for (const index_t count : gather_each(c, n)) fine.push_back(fine.back() + count);
      EXPECT_EQ(begins.back(), to.count);
      EXPECT_EQ(first, rows.first);
      check_triplets(to.rows);
      const index_t own_first = begins[static_cast<std::size_t>(c.rank())];
      const coo<double> p = with_columns_of_all(to.p, own, own_first, as_cview(to.plan.columns));
      const coo<double> r = with_columns_of_all(to.r, n, first, as_cview(rows.plan.columns));
      coo<double> all_p = amg::gather_rows(c, p, fine), all_r = amg::gather_rows(c, r, begins),
                  all_c = amg::gather_rows(c, to.rows, begins);
      all_p.shape.cols = to.count, all_r.shape.cols = a.shape.rows;
      const bool some_do = c.any(!to.plan.columns.empty());
      if (c.rank() == 0)
        whole_p = std::move(all_p), whole_r = std::move(all_r), whole_c = std::move(all_c), reaches_out = some_do;
    });
    EXPECT_EQ(reaches_out, ranks > 1);
    const auto x = kit::random_vector<double>(whole_c.shape.rows, 4), y = kit::random_vector<double>(900, 5);
    const auto apx = kit::times<double>(a, kit::times<double>(whole_p, x)), cx = kit::times<double>(whole_c, x),
               ry = kit::times<double>(whole_r, y);
    host_array<double> back(x.size(), 0.0), back_of_y(x.size(), 0.0), ones(900, 0.0);
    for (index_t k = 0; k < whole_p.nnz(); ++k) {
      back[whole_p.col[k]] += whole_p.val[k] * apx[whole_p.row[k]];
      back_of_y[whole_p.col[k]] += whole_p.val[k] * y[whole_p.row[k]];
      ones[whole_p.row[k]] += whole_p.val[k];
    }
    for (index_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(cx[i], back[i], 1e-12);
      EXPECT_NEAR(ry[i], back_of_y[i], 1e-12);
    }
    for (index_t i = 1; i < 29; ++i) // inside, where rows of A add up to 0, P keeps constants on every rank
      for (index_t j = 1; j < 29; ++j) EXPECT_NEAR(ones[30 * i + j], 1, 1e-12) << i << " " << j << " on " << ranks;
  }
}

/// What comes twice, from far away and out of order finds its place; rows go to those who need them, and back.
TEST(amg_on_ranks, names_columns_and_sends_rows) {
  const amg::rank_columns names(10, 5);
  const std::vector<std::int32_t> some{3, 12, 40, 3, 15}, more{40, 7, 10};
  const auto wider = names.with(some), all = wider.with(more);
  EXPECT_EQ(std::vector(wider.others().begin(), wider.others().end()), (std::vector<std::int32_t>{3, 15, 40}));
  EXPECT_EQ(std::vector(all.others().begin(), all.others().end()), (std::vector<std::int32_t>{3, 7, 15, 40}));
  for (std::int32_t k = 0; k < all.count(); ++k) EXPECT_EQ(all.local_of(all.global_of(k)), k);
  EXPECT_TRUE(names.with(std::vector<std::int32_t>{10, 14}).others().empty());
  std::vector<std::int32_t> far; // over many words, some of them without a mark
  for (std::int32_t j = 15; j < 5000; j += j % 13 + 60) far.push_back(j);
  const auto sparse = names.with(far);
  for (std::size_t k = 0; k < far.size(); ++k) EXPECT_EQ(sparse.local_of(far[k]), 5 + std::int32_t(k));
  const auto moved = wider.others_in(all);
  EXPECT_EQ(std::vector(moved.begin(), moved.end()), (std::vector<std::int32_t>{5, 7, 8}));
  run_ranks(3, [&](communicator& c) { // each rank needs the first element of the others
    host_array<std::int32_t> columns(2);
    for (index_t k = 0, r = 0; r < 3; ++r)
      if (r != c.rank()) columns[k++] = static_cast<std::int32_t>(4 * r);
    const halo_plan plan = plan_halo(c, {0, 4, 8, 12}, std::move(columns));
    amg::loose_rows mine{host_array<std::int32_t>(2), {}, {}}; // rank r sends r entries to each
    for (std::int32_t& l : mine.length) l = c.rank();
    mine.col = host_array<std::int32_t>(2 * c.rank(), c.rank()), mine.val = host_array<double>(2 * c.rank(), 0.5);
    const auto come = amg::exchange_rows(c, amg::way_of_rows::there(plan), mine);
    const auto back = amg::exchange_rows(c, amg::way_of_rows::back(plan), come);
    index_t next = 0;
    for (index_t k = 0, r = 0; r < 3; ++r)
      if (r != c.rank()) {
        EXPECT_EQ(come.length[k++], r);
        for (index_t e = 0; e < r; ++e) EXPECT_EQ(come.col[next++], r);
      }
    EXPECT_EQ(next, come.col.size());
    EXPECT_TRUE(std::ranges::equal(back.length, mine.length));
    EXPECT_TRUE(std::ranges::equal(back.col, mine.col));
  });
}

TEST(amg_on_ranks, bounds_the_spectrum_as_one_rank_does) {
  auto a = generate("elasticity3d:4").a; // not dominant: Lanczos
  const rows_of_triplets<double> whole(a);
  const amg::node_matrix m{whole.view(), 1};
  const auto d = amg::inverse_diagonal(m);
  const double alone = amg::largest_eigenvalue(m, d);
  EXPECT_GT(alone, 2.0001);
  for (const int ranks : kit::numbers_of_ranks)
    on_ranks(ranks, a, [&](communicator& c, coo<double> mine, index_t first) {
      host_array<double> inverse(mine.shape.rows);
      for (index_t i = 0; i < inverse.size(); ++i) inverse[i] = d[first + i];
      const auto rows = take_apart_rows(c, std::move(mine));
      EXPECT_NEAR(amg::largest_eigenvalue_on_ranks(c, rows, inverse), alone, 1e-6 * alone);
    });
}

TEST(amg_on_ranks, serves_single_precision_and_other_methods) {
  const auto a = generate("poisson3d:18").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const auto narrow = kit::random_vector<float>(a.shape.rows, 1);
  for (const int ranks : {1, 3}) {
    EXPECT_EQ(kit::solve_on_ranks<float>(ranks, a, narrow, amg_cg(1e-4)).report().why, status::converged);
    for (const char* solver : {"minres", "fcg", "gmres", "bicgstab", "auto"}) {
      auto o = amg_cg();
      o.solver = solver;
      const auto s = kit::solve_on_ranks<double>(ranks, a, b, o);
      EXPECT_EQ(s.report().why, status::converged) << solver << ": " << s.report().message;
      EXPECT_EQ(s.report().precond, "amg:sa");
      EXPECT_LT(s.report().iterations, 40) << solver;
    }
  }
}

TEST(amg_on_ranks, serves_ranks_without_rows_and_rows_without_couplings) {
  for (const int ranks : kit::numbers_of_ranks) {
    const auto tiny = kit::laplacian(3);
    EXPECT_EQ(kit::solve_on_ranks<double>(ranks, tiny, host_array<double>(3, 1.0), amg_cg()).report().why,
              status::converged);
    std::vector<double> d(5000); // more than are gathered, and nothing to put together
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + double(i % 7);
    const auto diagonal = kit::diagonal(d);
    const auto s = kit::solve_on_ranks<double>(ranks, diagonal, kit::random_vector<double>(5000, 3), amg_cg());
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_NE(s.report().precond_about.find("do not shrink any more"), std::string::npos) << s.report().precond_about;
  }
}

TEST(amg_on_ranks, serves_values_of_any_size) {
  for (const double size : {1e-150, 1e150}) {
    auto a = generate("poisson3d:18").a;
    for (double& v : a.val) v *= size;
    const auto b = kit::random_vector<double>(a.shape.rows, 1);
    const auto s = kit::solve_on_ranks<double>(3, a, b, amg_cg());
    EXPECT_EQ(s.report().why, status::converged) << size << ": " << s.report().message;
    EXPECT_LT(s.report().iterations, 30);
  }
}

TEST(amg_on_ranks, refuses_what_it_cannot_serve) {
  auto indefinite = generate("poisson3d:18").a;
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == 100 && indefinite.col[k] == 100) indefinite.val[k] = -6;
  const auto b = kit::random_vector<double>(indefinite.shape.rows, 1);
  for (const int ranks : kit::numbers_of_ranks) {
    const auto s = kit::solve_on_ranks<double>(ranks, indefinite, b, amg_cg());
    EXPECT_EQ(s.report().why, status::not_positive_definite) << s.report().message;
  }
  const auto refusal = [&](const coo<double>& a, const solve_options& o) {
    const host_array<double> ones(a.shape.rows, 1.0);
    host_array<double> x(a.shape.rows, 0.0);
    return kit::sentence_of_ranks(3, [&](communicator& c) {
      if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(ones), as_view(x), o);
      else solve_from_first<double>(c, {}, {}, {}, {});
    });
  };
  auto o = amg_cg();
  o.solver = "bicgstab";
  EXPECT_NE(refusal(generate("convection2d:20:10").a, o)
                .find("amg:sa over ranks is made for symmetric matrices, local:amg:sa for others, too: "),
            std::string::npos);
  EXPECT_NE(refusal(kit::laplacian(50), amg_cg(1e-8, "amg:sa:9")).find("amg:sa[:DEGREE]"), std::string::npos);
  EXPECT_NE(refusal(kit::laplacian(50), amg_cg(1e-8, "amg")).find("amg sees the rows of one rank only"),
            std::string::npos);
}

} // namespace
} // namespace furrow
