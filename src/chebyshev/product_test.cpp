// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "classic.hpp"
#include "lengths.hpp"

#include "kit/chebyshev_check.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <vector>

namespace furrow::chebyshev {
namespace {

template <class V> struct chebyshev_product : testing::Test {};
using both = testing::Types<double, float>;
TYPED_TEST_SUITE(chebyshev_product, both);

constexpr algorithm on_the_cpu[] = {algorithm::direct, algorithm::fft};

TYPED_TEST(chebyshev_product, keeps_its_bounds) {
  for (const auto how : on_the_cpu) kit::check_products<TypeParam>(how, {}, 1300);
}
TYPED_TEST(chebyshev_product, gives_the_known_products) {
  for (const auto how : on_the_cpu) kit::check_known_products<TypeParam>(how, {});
}
TYPED_TEST(chebyshev_product, survives_the_ends_of_the_range) {
  for (const auto how : on_the_cpu) kit::check_scaled_products<TypeParam>(how, {});
}
TYPED_TEST(chebyshev_product, is_right_where_its_terms_leave_the_range) {
  for (const auto how : on_the_cpu) kit::check_extreme_products<TypeParam>(how, {});
}
TYPED_TEST(chebyshev_product, works_in_batches) {
  for (const auto how : on_the_cpu) kit::check_batches<TypeParam, host_array>(how, {});
}

TYPED_TEST(chebyshev_product, has_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  for (const auto& [how, size] :
       {std::pair(algorithm::direct, 3000), {algorithm::fft, 3000}, {algorithm::fft, 60000}}) {
    const auto a = kit::random_vector<V>(size, 1), b = kit::random_vector<V>(size - 500, 2);
    const product_options o{convention::plain, {}, how, {}, {}};
    set_threads(1);
    const auto one = multiply<V>(as_cview(a), as_cview(b), o);
    for (const int threads : {2, 3, 7}) {
      set_threads(threads);
      const auto many = multiply<V>(as_cview(a), as_cview(b), o);
      EXPECT_EQ(std::memcmp(one.data(), many.data(), one.byte_count()), 0) << threads << name_of(how);
    }
    set_threads(0);
  }
}

TEST(chebyshev_products, have_memory_of_their_own) {
  const index_t count = 3, na = 2, nb = 3, n = 4, record = na + nb + n;
  product_plan<double> plan(na, nb, count);
  const host_array<double> numbers = kit::random_vector<double>(count * record, 1);
  const auto run = [&](batch<const double> a, batch<const double> b, batch<double> c) { plan.multiply(a, b, c); };
  std::vector<double> all(numbers.begin(), numbers.end()), c(count * n);
  double* const at = all.data();
  const batch<const double> a{at, count, record}, b{at + na, count, record};
  run(a, b, {c.data(), count, n});
  run(a, b, {at + na + nb, count, record}); // side by side with its factors
  for (index_t s = 0; s < count; ++s)
    for (index_t k = 0; k < n; ++k) EXPECT_EQ(at[s * record + na + nb + k], c[s * n + k]);
  run(a, b, {c.data() + (count - 1) * n, count, -n}); // backwards
  EXPECT_EQ(c[0], at[(count - 1) * record + na + nb]);
  run({at, 1, 0}, {at + na, 1, 0}, {at + na + nb, count, n}); // in place of the others, which nobody reads
  plan.fix(c.data());

  const std::vector<double> before = all;
  const auto refused = [&](auto call, const char* why) { kit::expect_refusal(fault::usage, why, call); };
  const char* const shared = "share memory with a factor";
  refused([&] { run(a, b, {at + na + nb - 1, count, record}); }, shared); // the last of b
  refused([&] { run(a, b, {at + na + nb + 1, count, record}); }, shared); // the first of the a behind it
  refused([&] { run(a, b, {at + 2 * record, count, -record}); }, shared);
  refused([&] { run({at, 1, 0}, b, {at + 1, count, record}); }, shared);
  refused([&] { plan.multiply_fixed(b, {at + na + 1, count, record}); }, shared);
  refused([&] { run(a, b, {c.data(), count, n - 1}); }, "3 coefficients from one to the next, but each has 4");
  refused([&] { plan.multiply_fixed(b, {c.data(), count, 0}); }, "0 coefficients from one to the next");
  EXPECT_EQ(all, before);
}

/// More lengths than are remembered, asked for from four threads at once.
TEST(chebyshev_products, of_many_lengths_share_their_tables) {
  const product_options o{.how = algorithm::fft};
  const auto a = kit::random_vector<double>(3000, 1);
  const auto square = [&](index_t n) { return multiply<double>({a.data(), n}, {a.data(), n}, o); };
  std::vector<index_t> lengths;
  for (index_t n = 100; n <= 3000; n += 190) lengths.push_back(n);
  std::vector<host_array<double>> alone;
  for (const index_t n : lengths) alone.push_back(square(n));
  std::vector<std::future<int>> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.push_back(std::async(std::launch::async, [&, t] {
      int wrong = 0;
      for (std::size_t k = 0; k < 20 * lengths.size(); ++k) {
        const std::size_t which = (7 * k + 5 * t) % lengths.size();
        const auto c = square(lengths[which]);
        wrong += std::memcmp(c.data(), alone[which].data(), c.byte_count()) != 0;
      }
      return wrong;
    }));
  for (auto& t : threads) EXPECT_EQ(t.get(), 0);
}

/// Coefficients of exp(z x): I_0(z), 2 I_1(z), ...
host_array<double> exponential(double z, index_t n) {
  host_array<double> a(n);
  for (index_t k = 0; k < n; ++k) a[k] = (k ? 2 : 1) * std::cyl_bessel_i(double(k), z);
  return a;
}

TEST(chebyshev_products, small_coefficients_keep_their_digits_in_the_sums_and_not_in_the_transforms) {
  const auto a = exponential(3, 40), b = exponential(5, 40);
  const auto direct = multiply<double>(as_cview(a), as_cview(b));
  const auto fast = multiply<double>(as_cview(a), as_cview(b), {.how = algorithm::fft});
  const std::pair<index_t, double> known[] = {{0, 427.56411572180478518},
                                              {1, 799.74627356512019644},
                                              {2, 655.19166305232952125},
                                              {20, 1.9120770227993073e-6},
                                              {30, 1.4506098627857695e-14}};
  for (const auto& [k, value] : known) {
    EXPECT_NEAR(direct[k], value, 1e-14 * value) << k;
    EXPECT_NEAR(fast[k], value, error_bound<double>(as_cview(a), as_cview(b), {}, algorithm::fft)) << k;
  }
}

/// The experiment of the document: 10000 coefficients of 0.1 and of 0.2, primed, as many kept.
TEST(chebyshev_products, give_the_truth_about_the_constant_data) {
  const host_array<double> a(10000, 0.1), b(10000, 0.2);
  for (const auto how : on_the_cpu) {
    const auto primed = multiply<double>(as_cview(a), as_cview(b), {convention::primed, 10000, how, {}, {}});
    EXPECT_NEAR(primed[0], 199.99, 1e-9);
    EXPECT_NEAR(primed[1], 199.98, 1e-9);
    const auto plain = multiply<double>(as_cview(a), as_cview(b), {convention::plain, 10000, how, {}, {}});
    EXPECT_NEAR(plain[0], 100.01, 1e-9);
    EXPECT_NEAR(plain[1], 200.00, 1e-9);
  }
}

TEST(chebyshev_products, primed_is_plain_with_other_first_coefficients) {
  auto a = kit::random_vector<double>(60, 1), b = kit::random_vector<double>(70, 2);
  const auto primed = multiply<double>(as_cview(a), as_cview(b), {.series = convention::primed});
  a[0] /= 2, b[0] /= 2;
  auto plain = multiply<double>(as_cview(a), as_cview(b));
  plain[0] *= 2;
  EXPECT_EQ(std::memcmp(primed.data(), plain.data(), plain.byte_count()), 0);
}

/// By hand. Of c_1 only a term lies beyond the range, of c_0 the value.
TEST(chebyshev_products, may_fit_where_their_terms_do_not) {
  const double h = 1.2e308;
  const host_array<double> a{h, h}, b{2, -1, 0.5};
  for (const auto how : on_the_cpu) {
    const auto c = multiply<double>(as_cview(a), as_cview(b), {.how = how});
    EXPECT_EQ(c[0], HUGE_VAL); // 1.5 h
    EXPECT_NEAR(c[1] / h, 1.25, 1e-14);
    EXPECT_NEAR(c[2] / h, 0, 1e-14);
    EXPECT_NEAR(c[3] / h, 0.25, 1e-14);
  }
}

TEST(chebyshev_products, have_bounds_that_do_not_vanish) {
  const host_array<double> tiny{3e-308, 1e-308}, large{1e300, 2e300}, zero{0, 0};
  const auto bound = [](const auto& a, const auto& b) {
    return error_bound<double>(as_cview(a), as_cview(b), {}, algorithm::direct);
  };
  EXPECT_NEAR(bound(tiny, large), 3.14e-23, 1e-25); // gamma_4 |a|_2 |b|_2
  EXPECT_GE(bound(tiny, tiny), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(bound(tiny, zero), 0);
}

using kit::expect_refusal;

/// Wherever it is: they are looked for several at a time.
TEST(chebyshev_products, refuse_what_is_not_finite_and_nothing_else) {
  const float largest = std::numeric_limits<float>::max();
  const host_array<float> ok(1, 0.0f);
  for (index_t at = 0; at < 70; ++at)
    for (const float wrong : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
      host_array<float> a(70, at % 2 ? largest : -0.0f);
      multiply<float>(as_cview(a), as_cview(ok));
      a[at] = wrong;
      expect_refusal(fault::input, "coefficient " + std::to_string(at) + " of the first series is",
                     [&] { multiply<float>(as_cview(a), as_cview(ok)); });
    }
}

TEST(chebyshev_products, refuse_in_one_clear_sentence) {
  const host_array<double> ok{1, 2}, none, nan{1, std::nan("")}, huge{1, HUGE_VAL};
  const auto run = [&](const host_array<double>& a, const host_array<double>& b, product_options o = {}) {
    return [&a, &b, o] { multiply<double>(as_cview(a), as_cview(b), o); };
  };
  expect_refusal(fault::usage, "empty", run(none, ok));
  expect_refusal(fault::usage, "empty", run(ok, none));
  expect_refusal(fault::input, "coefficient 1 of the first series is", run(nan, ok));
  expect_refusal(fault::input, "coefficient 1 of the second series is", run(ok, huge));
  expect_refusal(fault::usage, "at least one coefficient", run(ok, ok, {.keep = 0}));
  for (const auto how : classic_algorithms)
    expect_refusal(fault::usage, "needs a GPU", run(ok, ok, {.how = how, .block = 64}));
  expect_refusal(fault::usage, "has no blocks of threads", run(ok, ok, {.how = algorithm::direct, .block = 64}));
  const index_t large = index_t(1) << 40;
  for (const auto how : on_the_cpu)
    expect_refusal(fault::memory, "MB are available", [&] { product_plan<double>(large, large, 1, {.how = how}); });
  expect_refusal(fault::usage, "2^48", [&] { product_plan<double>(index_t(1) << 60, 1, 1); });
  expect_refusal(fault::usage, "for 2 products", [&] {
    product_plan<double> plan(2, 2, 2);
    host_array<double> c(9);
    plan.multiply({ok.data(), 3, 0}, {ok.data()}, {c.data(), 2, 3});
  });
}

TEST(chebyshev_products, refuse_a_plan_that_was_moved_from_and_memory_that_is_not_there) {
  const double a[] = {1, 2};
  double c[3];
  product_plan<double> from(2, 2, 1);
  product_plan<double> plan = std::move(from);
  const auto is_empty = [](auto f) { expect_refusal(fault::usage, "this plan is empty, it was moved", f); };
  is_empty([&] { from.multiply({a}, {a}, {c}); });
  is_empty([&] { from.fix(a); });
  is_empty([&] { from.multiply_fixed({a}, {c}); });
  is_empty([&] { from.size(); });
  is_empty([&] { from.how(); });
  is_empty([&] { from.transform(); });
  is_empty([&] { from.memory_bytes(); });
  const auto is_nowhere = [](auto f) { expect_refusal(fault::usage, "nowhere", f); };
  is_nowhere([&] { plan.multiply({nullptr}, {a}, {c}); });
  is_nowhere([&] { plan.multiply({a}, {nullptr}, {c}); });
  is_nowhere([&] { plan.multiply({a}, {a}, {nullptr}); });
  is_nowhere([&] { plan.fix(nullptr); });
  plan.fix(a);
  is_nowhere([&] { plan.multiply_fixed({nullptr}, {c}); });
  is_nowhere([&] { plan.multiply_fixed({a}, {nullptr}); });
  is_nowhere([&] { multiply<double>({nullptr, 2}, a); });
}

TEST(chebyshev_products, have_bounds_of_finite_numbers_alone) {
  const double a[] = {1, 2}, wrong[] = {1, std::nan("")};
  expect_refusal(fault::input, "coefficient 1 of the first series is nan",
                 [&] { error_bound<double>(wrong, a, {}, algorithm::direct); });
  expect_refusal(fault::input, "coefficient 1 of the second series is nan",
                 [&] { error_bound<double>(a, wrong, {}, algorithm::fft); });
}

TEST(chebyshev_products, auto_keeps_to_the_accuracy) {
  EXPECT_EQ(product_plan<double>(10000, 10000, 1).how(), algorithm::direct);
  EXPECT_EQ(product_plan<double>(10000, 10000, 1, {.wanted = accuracy::normwise}).how(), algorithm::fft);
  EXPECT_EQ(product_plan<double>(20, 20, 1, {.wanted = accuracy::normwise}).how(), algorithm::direct);
  EXPECT_EQ(product_plan<double>(3, 1000000, 1, {.wanted = accuracy::normwise}).how(), algorithm::direct);
}

TEST(chebyshev_lengths, are_the_least_that_serve) {
  EXPECT_EQ(smooth_length(1, 2), 1);
  EXPECT_EQ(smooth_length(17, 2), 32);
  EXPECT_EQ(smooth_length(17, 3), 18);
  EXPECT_EQ(smooth_length(19999, 7), 20000);
  EXPECT_EQ(smooth_length(49, 7), 49);
  EXPECT_EQ(smooth_length(49, 5), 50);
  for (index_t n = 1; n < 3000; ++n) {
    const index_t m = smooth_length(n, 7);
    index_t rest = m;
    for (const int p : {2, 3, 5, 7})
      for (; rest % p == 0; rest /= p) {
      }
    EXPECT_EQ(rest, 1);
    EXPECT_GE(m, n);
    const index_t cpu = cpu_transform_length(n);
    EXPECT_TRUE(cpu % 8 == 0 && cpu >= n && cpu < n + 8 + n / 4 && smooth_length(cpu, 7) == cpu) << n;
  }
  EXPECT_EQ(gpu_transform_length(1), 16);
  EXPECT_EQ(gpu_transform_length(19999), 20000);
  EXPECT_EQ(points_needed({10, 7, 16}), 16);
  EXPECT_EQ(points_needed({10, 10, 10}), 14);
  EXPECT_EQ(points_needed({10, 2, 1}), 10);
}

} // namespace
} // namespace furrow::chebyshev
