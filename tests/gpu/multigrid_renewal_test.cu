// SPDX-License-Identifier: BSD-3-Clause
// Multigrid on the GPU takes new values over.
#include "multigrid_systems.hpp"

#include "preconditioners/amg/gpu_renewal.hpp"
#include "preconditioners/amg/gpu_setup.hpp"
#include "preconditioners/new_values.hpp"

#include <furrow/solver.hpp>
#include <furrow/storage.hpp>

namespace furrow {
namespace {

template <class T> void expect_same_bits(const gpu_array<T>& got, const gpu_array<T>& wanted, const char* what) {
  const host_array<T> x(got), y(wanted);
  ASSERT_EQ(x.size(), y.size()) << what;
  for (index_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], y[i]) << what << ' ' << i;
}
template <class W>
void expect_same_hierarchy(const amg::hierarchy<W, gpu_array>& got, const amg::hierarchy<W, gpu_array>& wanted) {
  ASSERT_EQ(got.levels.size(), wanted.levels.size());
  EXPECT_EQ(got.scale, wanted.scale);
  EXPECT_EQ(got.reason, wanted.reason);
  for (std::size_t k = 0; k < got.levels.size(); ++k) {
    SCOPED_TRACE("level " + std::to_string(k));
    const auto &x = got.levels[k], &y = wanted.levels[k];
    EXPECT_EQ(x.lambda, y.lambda);
    expect_same_bits(x.a.col, y.a.col, "columns of A");
    expect_same_bits(x.a.val, y.a.val, "A");
    expect_same_bits(x.diagonals.val, y.diagonals.val, "diagonals");
    expect_same_bits(x.inverse, y.inverse, "D^-1");
    expect_same_bits(x.p.col, y.p.col, "columns of P");
    expect_same_bits(x.p.val, y.p.val, "P");
    expect_same_bits(x.r.col, y.r.col, "columns of R");
    expect_same_bits(x.r.val, y.r.val, "R");
  }
  expect_same_bits(got.coarsest, wanted.coarsest, "the dense inverse");
}

struct sequence {
  coo<double> first, second; ///< that have the same strong couplings, and differ in every number
};
std::vector<sequence> sequences() {
  const double little = 1e-7; // less than what tells the couplings of a row from each other
  std::vector<sequence> all;
  all.push_back({conducting(24, 20, 18, 0), conducting(24, 20, 18, little)});
  all.push_back({conducting(200, 150, 1, 0), conducting(200, 150, 1, little)});
  all.push_back({conducting(90, 80, 1, 0, 0.01), conducting(90, 80, 1, little, 0.01)}); // weak couplings
  all.push_back({conducting(5000, 1, 1, 0), conducting(5000, 1, 1, little)});
  all.push_back({conducting(20, 20, 1, 0), conducting(20, 20, 1, little)}); // dense
  return all;
}

template <class W, class V> void renew_and_compare(const sequence& s) {
  const auto first = send_rows(kit::as_precision<V>(s.first)), second = send_rows(kit::as_precision<V>(s.second));
  amg::device_renewal<W> renewal;
  auto h = amg::smoothed_aggregation_on_gpu<W>(amg::copied(first));
  ASSERT_EQ(renewal.renew(first, h), amg::renewal_outcome::remade);
  expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<W>(amg::copied(first)));
  for (const auto* now : {&second, &first, &second}) {
    const W* const where = h.levels[0].inverse.data();
    ASSERT_EQ(renewal.renew(*now, h), amg::renewal_outcome::renewed);
    EXPECT_EQ(h.levels[0].inverse.data(), where); // in place
    expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<W>(amg::copied(*now)));
  }
}

TEST_F(gpu_multigrid, is_renewed_with_the_bits_of_a_set_up) {
  for (const auto& s : sequences()) {
    SCOPED_TRACE(s.first.shape.rows);
    renew_and_compare<float, double>(s);
    renew_and_compare<double, double>(s);
    renew_and_compare<float, float>({s.first, s.first}); // rounding may turn an order
  }
}

TEST_F(gpu_multigrid, finds_new_aggregates_where_the_couplings_have_turned) {
  const auto across = send_rows(conducting(60, 50, 1, 0, 1e-3)), along = send_rows(conducting(60, 50, 1, 0, 1e3));
  amg::device_renewal<float> renewal;
  auto h = amg::smoothed_aggregation_on_gpu<float>(amg::copied(across));
  ASSERT_EQ(renewal.renew(across, h), amg::renewal_outcome::remade);
  ASSERT_EQ(renewal.renew(across, h), amg::renewal_outcome::renewed);
  ASSERT_EQ(renewal.renew(along, h), amg::renewal_outcome::remade);
  expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<float>(amg::copied(along)));
  ASSERT_EQ(renewal.renew(along, h), amg::renewal_outcome::renewed);
  expect_same_hierarchy(h, amg::smoothed_aggregation_on_gpu<float>(amg::copied(along)));
  EXPECT_EQ(renewal.renew(send_rows(conducting(50, 60, 1, 0)), h), amg::renewal_outcome::failed); // other places
}

TEST_F(gpu_multigrid, refuses_new_values_that_a_set_up_refuses) {
  const solver_needs needs{{true, true}, {true, true}};
  const auto a = conducting(40, 30, 1, 0);
  const auto m = make_preconditioner<double>("amg:sa", a, gpu, needs);
  auto& kept = dynamic_cast<takes_new_values<double>&>(*m);
  ASSERT_TRUE(kept.update(a, needs));
  EXPECT_FALSE(kept.update(conducting(30, 40, 1, 0), needs));
  EXPECT_FALSE(kept.update(conducting(40, 31, 1, 0), needs));
  auto wide = a; // levels in double now
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 7 && a.col[k] == 7) wide.val[k] = 1e40;
  EXPECT_FALSE(kept.update(wide, needs));
  auto negative = a;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 7 && a.col[k] == 7) negative.val[k] = -4;
  EXPECT_FALSE(kept.update(negative, needs)); // the set-up says why
  ASSERT_TRUE(kept.update(a, needs));
  auto indefinite = a; // a coarse pivot is negative
  for (double& v : indefinite.val) v = v > 0 ? v / 4 : v;
  EXPECT_THROW(kept.update(indefinite, needs), refusal);
  for (const char* name : {"amg:grid", "amg:pairwise"}) { // made anew
    const auto other = make_preconditioner<double>(name, a, gpu, {{true, true}, {true, true}, false, true});
    EXPECT_FALSE(dynamic_cast<takes_new_values<double>&>(*other).update(a, needs)) << name;
  }
}

TEST_F(gpu_multigrid, serves_matrices_that_follow_each_other) {
  const auto o = solving("cg", "amg:sa");
  const auto b = kit::random_vector<double>(6000, 3);
  const auto solved = [&](solver<double>& s) {
    host_array<double> x(6000, 0.0);
    auto report = s.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
    return std::pair(std::move(report), std::move(x));
  };
  const auto a = conducting(60, 100, 1, 0);
  solver<double> kept(coo<double>(a), o), by_rows(coo<double>(a), o);
  for (int step = 1; step <= 5; ++step) {
    SCOPED_TRACE(step);
    const auto now = conducting(60, 100, 1, 0.1 * step);
    const auto rows = to_rows(coo<double>(now));
    host_array<std::int32_t> offsets(rows.row_ptr.size());
    std::ranges::copy(rows.row_ptr, offsets.begin());
    const gpu_array<std::int32_t> row_ptr(offsets), col(rows.col);
    const gpu_array<double> val(rows.val);
    solver<double> fresh(coo<double>(now), o);
    kept.update_values(coo<double>(now));
    by_rows.update_values(
        csr_arrays<double, std::int32_t>{rows.shape, as_cview(row_ptr), as_cview(col), as_cview(val), gpu, nullptr});
    const auto [one, x] = solved(kept);
    const auto [two, y] = solved(by_rows);
    const auto [three, z] = solved(fresh);
    EXPECT_LE(one.iterations, three.iterations + 1);
    EXPECT_EQ(two.iterations, one.iterations);
    for (index_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], y[i]) << i;
  }
}

} // namespace
} // namespace furrow
