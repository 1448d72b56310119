// SPDX-License-Identifier: BSD-3-Clause
#include "amg_on_ranks.hpp"

#include "coarsening.hpp"
#include "spectrum.hpp"

#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "preconditioners/amg/diagonal.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <gtest/gtest.h>

#include <cmath>

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
  for (const auto& [spec, most] : {one{"poisson3d:20", 1.5}, one{"poisson2d:90", 1.5}, one{"stencil3d27:18", 1.5},
                                   one{"anisotropic2d:80:0.01", 2.0}}) {
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

/// P'A P is what one rank would work out from the P of all.
TEST(amg_on_ranks, multiplies_the_coarse_matrix_across_ranks) {
  const auto a = generate("poisson2d:30").a;
  for (const int ranks : kit::numbers_of_ranks) {
    coo<double> whole_p, whole_c;
    on_ranks(ranks, a, [&](communicator& c, coo<double> mine, index_t first) {
      const auto rows = take_apart_rows(c, std::move(mine));
      host_array<double> inverse(rows.own.shape.rows, 0.25);
      const auto to = amg::coarsen_on_ranks(c, rows, inverse, 0.08, 2.0 / 3, 1e9);
      index_t own_first = 0, rank = 0;
      std::vector<index_t> begins{0}, fine{0};
      for (const index_t count : gather_each(c, to.p.shape.cols)) {
        if (rank++ < c.rank()) own_first += count;
        begins.push_back(begins.back() + count);
      }
      for (const index_t count : gather_each(c, rows.own.shape.rows)) fine.push_back(fine.back() + count);
      EXPECT_EQ(begins.back(), to.count);
      check_triplets(to.rows);
      coo<double> p =
          to_triplets(row_matrix<double>({to.p.shape, host_array<index_t>(to.p.row_ptr),
                                          host_array<std::int32_t>(to.p.col), host_array<double>(to.p.val)}));
      for (std::int32_t& j : p.col) j += static_cast<std::int32_t>(own_first);
      coo<double> all_p = amg::gather_rows(c, p, fine), all_c = amg::gather_rows(c, to.rows, begins);
      all_p.shape.cols = to.count;
      EXPECT_EQ(first, rows.first);
      if (c.rank() == 0) whole_p = std::move(all_p), whole_c = std::move(all_c);
    });
    check_triplets(whole_p);
    check_triplets(whole_c);
    const auto x = kit::random_vector<double>(whole_c.shape.rows, 4);
    const auto px = kit::times<double>(whole_p, x), apx = kit::times<double>(a, px),
               cx = kit::times<double>(whole_c, x);
    host_array<double> back(x.size(), 0.0), ones(900, 0.0);
    for (index_t k = 0; k < whole_p.nnz(); ++k) {
      back[whole_p.col[k]] += whole_p.val[k] * apx[whole_p.row[k]];
      ones[whole_p.row[k]] += whole_p.val[k];
    }
    for (index_t i = 0; i < x.size(); ++i) EXPECT_NEAR(cx[i], back[i], 1e-12);
    for (index_t i = 1; i < 29; ++i) // inside, where rows of A add up to 0, P keeps constants on every rank
      for (index_t j = 1; j < 29; ++j) EXPECT_NEAR(ones[30 * i + j], 1, 1e-12) << i << " " << j << " on " << ranks;
  }
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
  EXPECT_NE(refusal(generate("convection2d:20:10").a, o).find("amg:sa is made for symmetric matrices: "),
            std::string::npos);
  EXPECT_NE(refusal(kit::laplacian(50), amg_cg(1e-8, "amg:sa:9")).find("amg:sa[:DEGREE]"), std::string::npos);
  EXPECT_NE(refusal(kit::laplacian(50), amg_cg(1e-8, "amg")).find("amg sees the rows of one rank only"),
            std::string::npos);
}

} // namespace
} // namespace furrow
