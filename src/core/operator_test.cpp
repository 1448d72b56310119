// SPDX-License-Identifier: BSD-3-Clause
#include "kit/operator_check.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/generate.hpp>

#include <atomic>
#include <thread>

namespace furrow {
namespace {

/// An operator of one's own: no more than it must have.
template <class V> class plain final : public any_operator<V> {
public:
  explicit plain(coo<V> a) : a_(std::move(a)) {}
  shape2 shape() const override { return a_.shape; }
  double bytes_per_apply() const override { return 0; }
  double stored_bytes() const override { return 0; }
  std::string kernel() const override { return "plain"; }

protected:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    host_array<V> sum(y.size, V(0));
    for (index_t k = 0; alpha != V(0) && k < a_.nnz(); ++k) sum[a_.row[k]] += a_.val[k] * x[a_.col[k]];
    for (index_t i = 0; i < y.size; ++i) y[i] = beta == V(0) ? alpha * sum[i] : alpha * sum[i] + beta * y[i];
  }
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    do_apply(V(1), x, V(0), y);
    *xy.at = 0;
    for (index_t i = 0; i < y.size; ++i) *xy.at += double(x[i]) * double(y[i]);
  }

private:
  coo<V> a_;
};

template <class V> struct own_operators : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(own_operators, precisions);

TYPED_TEST(own_operators, take_epilogues_by_passes_of_their_own) {
  using V = TypeParam;
  for (const auto& m : kit::whole_battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const plain<V> op{coo<V>(a)};
    kit::check_epilogues<V, kit::host_side>(op, a);
    kit::check_refusals<V, kit::host_side>(op);
    const function_operator<V> by_function(a.shape, [&](cview<V> x, view<V> y) { op.apply(V(1), x, V(0), y); });
    kit::check_epilogues<V, kit::host_side>(by_function, a);
  }
}

TEST(function_operators, multiply_by_several_threads_at_once) {
  const index_t n = 3;
  const function_operator<double> op({n, n}, [](cview<double> x, view<double> y) {
    for (index_t i = 0; i < y.size; ++i) {
      std::this_thread::yield(); // the others come in between
      y[i] = 2 * x[i];
    }
  });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 1; t <= 4; ++t)
    threads.emplace_back([&, t] {
      const std::vector<double> x(n, t), expected(n, 6.0 * t + 1);
      for (int product = 0; product < 500; ++product) {
        std::vector<double> y(n, 1);
        op.apply(3, x, 1, y);
        wrong += y != expected;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(epilogues, are_refused_with_a_sentence) {
  const plain<double> op(generate("poisson2d:2").a);
  const std::vector<double> x(4, 1.0), three(3, 1.0);
  std::vector<double> y(5, 7.0);
  const view<double> first(y.data(), 4), second(y.data() + 1, 4);
  double sum = -1;
  const auto sentence = [&](const epilogue<double>& e) -> std::string {
    try {
      op.apply_with(x, first, e);
    } catch (const error& refusal) {
      return refusal.what();
    }
    return "";
  };
  EXPECT_EQ(sentence({three}), "b has 3 elements and y 4: give b one for each row");
  EXPECT_EQ(sentence({view<const double>(nullptr, 4)}), "b points nowhere, but has 4 elements");
  EXPECT_EQ(sentence({second}), "b shares part of y's memory: give it its own, or that of y");
  EXPECT_EQ(sentence({{}, {three, {&sum}}}), "y . u has 3 elements of u and 4 of y: give one for each row");
  EXPECT_EQ(sentence({{}, {second, {&sum}}}), "u shares part of y's memory: give it its own, or that of y");
  EXPECT_EQ(sentence({{}, {}, {x, three, {&sum}}}), "y . w has 3 elements of w and 4 of y: give one for each row");
  EXPECT_EQ(sentence({{}, {}, {first, x, {&sum}}}),
            "y . y is among the sums of y, u and w: give u and w memory of their own");
  EXPECT_EQ(sentence({{}, {x, {&sum}}, {x, x, {&sum}}}),
            "y . u has a slot, and so have the sums of y, u and w: take one");
  EXPECT_THROW(op.residual({}, x, first, {&sum}), error); // and not A x
  EXPECT_EQ(y, std::vector<double>(5, 7.0));
  EXPECT_EQ(sum, -1);
}

TEST(epilogues, are_what_the_documentation_shows) {
  const auto a = generate("poisson2d:2").a; // 4 on the diagonal, -1 for each of two neighbours
  const auto op = make(choose(measure(a), precision::f64, {}), {}, a);
  const std::vector<double> b{1, 2, 3, 4}, x(4, 1.0);
  std::vector<double> r(4), y(4);
  double rr = 0, by = 0, sums[5] = {};
  op->residual(b, x, r, {&rr});       // r = b - A x,  r'r
  op->apply_dot(x, y, b, {&by});      // y = A x,  y'b
  op->apply_gram(x, y, b, r, {sums}); // y = A x,  y'y,  y'b,  y'r,  b'b,  b'r
  EXPECT_EQ(r, (std::vector<double>{-1, 0, 1, 2}));
  EXPECT_EQ(y, std::vector<double>(4, 2.0));
  EXPECT_EQ(rr, 6);
  EXPECT_EQ(by, 20);
  EXPECT_EQ(std::vector<double>(sums, sums + 5), (std::vector<double>{16, 20, 4, 30, 10}));
}

} // namespace
} // namespace furrow
