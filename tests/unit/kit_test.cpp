// SPDX-License-Identifier: BSD-3-Clause
// The kit finds what it is made to find.
#include "kit/operator_check.hpp"

#include <gtest/gtest-spi.h>

namespace furrow {
namespace {

/// An operator that is wrong in one way.
enum class defect {
  none,
  reads_y,
  reads_x,
  reads_a,
  writes_beyond,
  drops_last,
  unrepeatable,
  wrong_dot,
  wrong_sum,
  forgets_b
};

class faulty final : public any_operator<double> {
public:
  faulty(coo<double> a, defect what) : a_(std::move(a)), what_(what) {}
  shape2 shape() const override { return a_.shape; }
  void do_apply(double alpha, cview<double> x, double beta, view<double> y) const override {
    std::vector<double> sum(static_cast<std::size_t>(a_.shape.rows));
    if (alpha != 0 || what_ == defect::reads_a || what_ == defect::reads_x)
      for (index_t k = 0; k < a_.nnz() - (what_ == defect::drops_last); ++k)
        sum[static_cast<std::size_t>(a_.row[k])] +=
            (what_ == defect::reads_x && alpha == 0 ? 1.0 : a_.val[k]) * x[a_.col[k]];
    for (index_t r = 0; r < a_.shape.rows; ++r) {
      const double s = sum[static_cast<std::size_t>(r)];
      y[r] = beta == 0 && what_ != defect::reads_y ? alpha * s : alpha * s + beta * y[r];
    }
    if (what_ == defect::writes_beyond) y[y.size] = 1;
    if (what_ == defect::unrepeatable && ++calls_ % 7 == 0 && y.size) y[0] = std::nextafter(y[0], 10.0);
  }
  void do_apply_dot(cview<double> x, view<double> y, slot xy) const override {
    do_apply(1, x, 0, y);
    *xy.at = what_ == defect::wrong_dot ? 1e-12 : 0;
    for (index_t i = 0; i < x.size; ++i) *xy.at += x[i] * y[i];
  }
  void do_apply_with(cview<double> x, view<double> y, const epilogue<double>& e) const override {
    epilogue<double> given = e;
    if (what_ == defect::forgets_b) given.b = {};
    any_operator<double>::do_apply_with(x, y, given);
    if (what_ == defect::wrong_sum && e.all.to.at) e.all.to.at[epilogue<double>::gram::uw] += 1e-12;
  }
  double bytes_per_apply() const override { return 0; }
  double stored_bytes() const override { return 0; }
  std::string kernel() const override { return "faulty"; }

private:
  coo<double> a_;
  defect what_;
  mutable int calls_ = 0;
};

/// How many checks fail for an operator with that defect.
int failures(defect what) {
  testing::TestPartResultArray found;
  {
    testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &found);
    const auto make = [&](coo<double> a) { return std::make_unique<faulty>(std::move(a), what); };
    kit::check_operator<double, kit::host_side>(make, kit::laplacian(6, 5), 20);
  }
  return found.size();
}

TEST(kit, passes_a_correct_operator) { EXPECT_EQ(failures(defect::none), 0); }
TEST(kit, finds_a_read_of_y) { EXPECT_GT(failures(defect::reads_y), 0); }
TEST(kit, finds_a_read_of_x) { EXPECT_GT(failures(defect::reads_x), 0); }
TEST(kit, finds_a_read_of_a) { EXPECT_GT(failures(defect::reads_a), 0); }
TEST(kit, finds_a_write_beyond_y) { EXPECT_GT(failures(defect::writes_beyond), 0); }
TEST(kit, finds_a_missing_entry) { EXPECT_GT(failures(defect::drops_last), 0); }
TEST(kit, finds_bits_that_change) { EXPECT_GT(failures(defect::unrepeatable), 0); }
TEST(kit, finds_a_wrong_dot) { EXPECT_GT(failures(defect::wrong_dot), 0); }
TEST(kit, finds_a_wrong_sum) { EXPECT_GT(failures(defect::wrong_sum), 0); }
TEST(kit, finds_a_b_that_is_left_out) { EXPECT_GT(failures(defect::forgets_b), 0); }

TEST(kit, row_error_has_no_absolute_floor) {
  const auto a = kit::diagonal({1e-30, 1});
  const host_array<double> x{1, 1}, y{2e-30, 1}, exact{1e-30, 1};
  const auto expected = kit::reference_product(a, 1.0, as_cview(x), 0.0, {});
  EXPECT_GT(kit::row_error(expected, as_cview(y)), 1e10);
  EXPECT_EQ(kit::row_error(expected, as_cview(exact)), 0);
}

TEST(kit, an_empty_row_must_be_exactly_zero) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1}});
  const host_array<double> x{1, 1}, y{1, 1e-300}, nan{1, std::nan("")};
  const auto expected = kit::reference_product(a, 1.0, as_cview(x), 0.0, {});
  EXPECT_EQ(kit::row_error(expected, as_cview(y)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(kit::row_error(expected, as_cview(nan)), std::numeric_limits<double>::infinity());
}

TEST(kit, assembles_duplicates_in_their_order) {
  const auto a = kit::assemble({2, 2}, {{1, 1, 1e16}, {0, 1, 2}, {1, 1, 1}, {1, 1, -1e16}});
  ASSERT_EQ(a.nnz(), 2);
  EXPECT_EQ(a.val[0], 2);
  EXPECT_EQ(a.val[1], 0); // (1e16 + 1) - 1e16; another order gives 1
  EXPECT_EQ(kit::violation(a), "");
}

} // namespace
} // namespace furrow
