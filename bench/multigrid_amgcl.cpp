// SPDX-License-Identifier: BSD-3-Clause
// multigrid_amgcl sa|sa32|rs MATRIX RTOL: conjugate gradients with AMGCL's smoothed aggregation, in double or with the
// hierarchy in single precision, or with its Ruge-Stueben coarsening; SPAI-0, its usual smoother. Threads are OpenMP's.
#include "multigrid_rival.hpp"

#define AMGCL_NO_BOOST
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/ruge_stuben.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/cg.hpp>

#include <string_view>

namespace {

using furrow::bench::measured;
using furrow::bench::seconds;
using by_rows = furrow::bench::system_by_rows<std::ptrdiff_t>;

template <class Value, template <class> class Coarsening> measured solved(const by_rows& a, double rtol) {
  using multigrid = amgcl::amg<amgcl::backend::builtin<Value>, Coarsening, amgcl::relaxation::spai0>;
  using solver = amgcl::make_solver<multigrid, amgcl::solver::cg<amgcl::backend::builtin<double>>>;
  const auto rows = std::tie(a.rows, a.row_ptr, a.col, a.val);
  typename solver::params wanted;
  wanted.solver.tol = rtol;
  wanted.solver.maxiter = 10000;
  std::vector<double> x(a.b.size(), 0.0);
  const double began = seconds();
  solver s(rows, wanted);
  const double made = seconds();
  const auto [iterations, error] = s(rows, a.b, x);
  return {made - began, seconds() - made, a.residual_of(x), static_cast<long>(iterations)};
}

} // namespace

int main(int count, char** words) try {
  if (count != 4) {
    std::fprintf(stderr, "usage: multigrid_amgcl sa|sa32|rs MATRIX RTOL\n");
    return 2;
  }
  const std::string_view kind = words[1];
  const by_rows a(words[2]);
  const double rtol = std::stod(words[3]);
  const auto run = kind == "rs"     ? solved<double, amgcl::coarsening::ruge_stuben>
                   : kind == "sa32" ? solved<float, amgcl::coarsening::smoothed_aggregation>
                                    : solved<double, amgcl::coarsening::smoothed_aggregation>;
  furrow::bench::print(run(a, rtol), rtol);
} catch (const std::exception& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 3;
}
