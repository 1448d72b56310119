// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "guarded.hpp"
#include "matrices.hpp"
#include "random.hpp"
#include "row_error.hpp"
#include "said_by.hpp"
#include "sanitized.hpp"

#include <furrow/error.hpp>
#include <furrow/formats.hpp>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

/// What every operator promises, checked on one matrix. All functions report through GoogleTest.
namespace furrow::kit {

template <class V> using operator_maker = std::function<std::unique_ptr<any_operator<V>>(coo<V>)>;

/// A matrix beside what its products must be: vectors and references are made once, however many operators are held to
/// them. Refers to `a`, which must outlive it.
template <class V> class judged {
public:
  judged(const coo<V>& a) : a(a), shape(a.shape) {}

  const coo<V>& a;
  const shape2 shape;

  const stats& statistics() const {
    if (!statistics_) statistics_ = measure(a);
    return *statistics_;
  }
  /// `random_vector`.
  const host_array<V>& vector(index_t n, std::uint64_t seed) const {
    const auto [at, is_new] = vectors_.try_emplace({n, seed});
    if (is_new) at->second = random_vector<V>(n, seed);
    return at->second;
  }
  /// Of alpha A x + beta y with the vectors of these seeds.
  const reference& product(V alpha, std::uint64_t x, V beta = V(0), std::uint64_t y = 0) const {
    const auto [at, is_new] = products_.try_emplace({alpha, x, beta, y});
    if (is_new)
      at->second = reference_product(a, alpha, as_cview(vector(shape.cols, x)), beta,
                                     beta == V(0) ? cview<V>() : as_cview(vector(shape.rows, y)));
    return at->second;
  }

private:
  mutable std::optional<stats> statistics_;
  mutable std::map<std::pair<index_t, std::uint64_t>, host_array<V>> vectors_;
  mutable std::map<std::tuple<V, std::uint64_t, V, std::uint64_t>, reference> products_;
};

template <class V> host_array<V> all_nan(index_t n) { return host_array<V>(n, std::numeric_limits<V>::quiet_NaN()); }

/// y <- alpha A x + beta y within the row bound; x stays as it was; nothing is written beside y.
/// beta == 0: y is NaN before; alpha == 0: x is NaN.
template <class V, class Side>
host_array<V> check_apply(const any_operator<V>& op, const judged<V>& a, V alpha, V beta, index_t shift = 0) {
  const auto x = alpha == V(0) ? all_nan<V>(a.shape.cols) : a.vector(a.shape.cols, 101);
  const auto y = beta == V(0) ? all_nan<V>(a.shape.rows) : a.vector(a.shape.rows, 102);
  guarded<V, Side> device_x(x, shift), device_y(y, shift);
  op.apply(alpha, device_x.get(), beta, device_y.get());
  auto result = device_y.take();
  EXPECT_LE(row_error(a.product(alpha, 101, beta, 102), as_cview(result)), 1)
      << "alpha = " << double(alpha) << ", beta = " << double(beta) << ", shift = " << shift;
  EXPECT_TRUE(same_bits(as_cview(device_x.take()), as_cview(x))) << "x was written";
  return result;
}

/// A square operator's y = A x and x . y in one pass: both within their bounds, the sum in double.
template <class V, class Side> double check_apply_dot(const any_operator<V>& op, const judged<V>& a) {
  const auto& x = a.vector(a.shape.cols, 103);
  guarded<V, Side> device_x(x), device_y = guarded<V, Side>::unwritten(a.shape.rows);
  auto sum = guarded<double, Side>::unwritten(1);
  op.apply_dot(device_x.get(), device_y.get(), slot{sum.get().data});
  const auto y = device_y.take();
  EXPECT_LE(row_error(a.product(V(1), 103), as_cview(y)), 1) << "apply_dot";
  const double got = sum.take()[0];
  const dot_reference dot = reference_dot(as_cview(x), as_cview(y));
  EXPECT_LE(std::fabs(got - dot.value), dot.bound) << "x . y is " << got << " instead of " << dot.value;
  return got;
}

/// The vectors that `apply_with` may meet in a sum, by name, and the sums of two of them with y.
enum class summed { nothing, x, y, other, x_and_other, two_others };

/// What an operator takes along: y has the bits of `apply`, with b those of a copy and `apply`, wherever b lies; the
/// sums are those of y within the bound of a sum in double; nothing else is written. Gives back the sums.
template <class V, class Side>
std::vector<double> check_epilogue(const any_operator<V>& op, const judged<V>& a, bool with_b, bool in_place,
                                   summed asked) {
  using gram = typename epilogue<V>::gram;
  const auto &x = a.vector(a.shape.cols, 106), &b = a.vector(a.shape.rows, 107);
  const auto &one = a.vector(a.shape.rows, 108), &two = a.vector(a.shape.rows, 109);
  guarded<V, Side> device_x(x), device_b(b), plain = guarded<V, Side>::unwritten(a.shape.rows);
  guarded<V, Side> device_one(one), device_two(two);
  guarded<V, Side> own_y = guarded<V, Side>::unwritten(a.shape.rows), copy_of_b(b);
  guarded<V, Side>& device_y = in_place ? copy_of_b : own_y;
  const bool both = asked == summed::x_and_other || asked == summed::two_others, of_x = asked == summed::x_and_other;
  auto slots = guarded<double, Side>::unwritten(both ? gram::count : 1);
  epilogue<V> e;
  if (with_b) e.b = in_place ? device_y.get() : device_b.get();
  const slot to{slots.get().data};
  if (asked == summed::x) e.one = {device_x.get(), to};
  if (asked == summed::y) e.one = {device_y.get(), to};
  if (asked == summed::other) e.one = {device_one.get(), to};
  if (both) e.all = {of_x ? device_x.get() : device_one.get(), device_two.get(), to};
  op.apply_with(device_x.get(), device_y.get(), e);
  if (with_b) {
    guarded<V, Side> residual(b);
    op.apply(V(-1), device_x.get(), V(1), residual.get());
    EXPECT_TRUE(same_bits(as_cview(device_y.take()), as_cview(residual.take()))) << "b - A x is not that of apply";
  } else {
    op.apply(V(1), device_x.get(), V(0), plain.get());
    EXPECT_TRUE(same_bits(as_cview(device_y.take()), as_cview(plain.take()))) << "A x is not that of apply";
  }
  EXPECT_TRUE(same_bits(as_cview(device_x.take()), as_cview(x))) << "x was written";
  EXPECT_TRUE(same_bits(as_cview(device_b.take()), as_cview(b))) << "b was written";
  const auto y = device_y.take();
  EXPECT_TRUE(same_bits(as_cview(device_one.take()), as_cview(one)) &&
              same_bits(as_cview(device_two.take()), as_cview(two)));
  std::vector<double> sums;
  if (asked == summed::nothing) return sums;
  const auto got = slots.take();
  const auto is_sum_of = [&](const host_array<V>& u, const host_array<V>& v) {
    const dot_reference dot = reference_dot(as_cview(u), as_cview(v));
    const std::size_t k = sums.size();
    sums.push_back(got[index_t(k)]);
    EXPECT_LE(std::fabs(sums[k] - dot.value), dot.bound) << "sum " << k << " is " << sums[k] << ", not " << dot.value;
  };
  const host_array<V>& u = asked == summed::x || of_x ? x : asked == summed::y ? y : one;
  if (!both) is_sum_of(y, u);
  else is_sum_of(y, y), is_sum_of(y, u), is_sum_of(y, two), is_sum_of(u, u), is_sum_of(u, two);
  return sums;
}

/// Epilogues of every kind, those that solvers ask for most twice with the same bits.
template <class V, class Side> void check_epilogues(const any_operator<V>& op, const judged<V>& a) {
  using enum summed;
  enum place { no_b, b_apart, b_in_y };
  const auto run = [&](summed asked, place b) {
    SCOPED_TRACE("sums " + std::to_string(int(asked)) + ", b " + std::to_string(b));
    return check_epilogue<V, Side>(op, a, b != no_b, b == b_in_y, asked);
  };
  for (const place b : {no_b, b_apart, b_in_y})
    for (const summed asked : {nothing, y, other, two_others}) run(asked, b);
  EXPECT_EQ(run(two_others, no_b), run(two_others, no_b)) << "sums differ from run to run";
  EXPECT_EQ(run(y, b_apart), run(y, b_apart)) << "sums differ from run to run";
  if (a.shape.rows != a.shape.cols) return;
  run(x, no_b);
  run(x_and_other, no_b);
  run(x_and_other, b_apart);
}

/// b - A x with sums in twice the digits, from operators that have it, against long double: off by its last rounding,
/// where products in V are off by one an entry. One whose rows are walked by a thread each may leave long ones to
/// others.
template <class V, class Side> void check_exact_residual(const any_operator<V>& op, const judged<V>& a) {
  using exact = long double;
  const auto home_b = random_vector<V>(a.shape.rows, 41), home_x = random_vector<V>(a.shape.cols, 42);
  guarded<V, Side> b(home_b), x(home_x), r(host_array<V>(a.shape.rows, V(9)));
  const auto norm = op.exact_residual(b.get(), x.get(), r.get());
  constexpr index_t longest_of_a_thread = 1024; // longer rows would be waited for
  const bool walks = op.where().is_gpu() && op.multiplies_blocks();
  if (!walks || a.statistics().row_max <= longest_of_a_thread) {
    EXPECT_EQ(norm.has_value(), walks);
  }
  if (!norm) return;
  std::vector<exact> rest(home_b.begin(), home_b.end()), size(home_b.begin(), home_b.end());
  for (exact& s : size) s = std::fabs(s);
  for (index_t k = 0; k < a.a.nnz(); ++k) {
    const auto row = static_cast<std::size_t>(a.a.row[k]);
    const exact product = exact(a.a.val[k]) * exact(home_x[a.a.col[k]]);
    rest[row] -= product, size[row] += std::fabs(product);
  }
  const host_array<V> got = r.take();
  exact squares = 0;
  for (index_t i = 0; i < a.shape.rows; ++i) {
    const exact right = rest[static_cast<std::size_t>(i)];
    const exact bound = std::numeric_limits<V>::epsilon() * std::fabs(right) +
                        exact(a.a.nnz() + 4) * 0x1p-62L * size[static_cast<std::size_t>(i)];
    ASSERT_LE(std::fabs(exact(got[i]) - right), bound) << "row " << i;
    squares += right * right;
  }
  EXPECT_NEAR(*norm, double(std::sqrt(squares)), 1e-12 * double(std::sqrt(squares)));
}

/// How often a product is repeated.
inline const int runs = repeats(100, 11);

/// The same bits, `repeats` times over.
template <class V, class Side>
void check_repeatable(const any_operator<V>& op, const judged<V>& a, int repeats = runs) {
  const auto& x = a.vector(a.shape.cols, 104);
  const auto run = [&] {
    guarded<V, Side> device_x(x), device_y = guarded<V, Side>::unwritten(a.shape.rows);
    op.apply(V(1), device_x.get(), V(0), device_y.get());
    return device_y.take();
  };
  const auto first = run();
  const bool square = a.shape.rows == a.shape.cols;
  const double first_sum = square ? check_apply_dot<V, Side>(op, a) : 0;
  for (int k = 1; k < repeats; ++k) {
    const auto again = run();
    ASSERT_TRUE(same_bits(as_cview(first), as_cview(again))) << "product " << k << " has other bits than the first";
    if (!square || k % 10) continue; // its reference costs much more than the product
    ASSERT_EQ((check_apply_dot<V, Side>(op, a)), first_sum) << "x . y differs at repeat " << k;
  }
}

/// alpha == 0 does not read A: here A is nothing but NaN.
template <class V, class Side> void check_zero_alpha_skips_matrix(const operator_maker<V>& make, const judged<V>& a) {
  coo<V> nothing = a.a;
  std::fill(nothing.val.begin(), nothing.val.end(), std::numeric_limits<V>::quiet_NaN());
  const auto op = make(std::move(nothing));
  for (const V beta : {V(0), V(1), V(-0.5)}) check_apply<V, Side>(*op, a, V(0), beta);
}

/// Vectors that do not fit are refused with a sentence, before anything is written.
template <class V, class Side> void check_refusals(const any_operator<V>& op) {
  const auto [rows, cols] = op.shape();
  guarded<V, Side> room(random_vector<V>(rows + cols + 2, 105));
  const auto before = room.take();
  const view<V> all = room.get();
  const auto x = [&](index_t n) { return as_cview(part(all, 0, n)); };
  const auto y = [&](index_t n) { return part(all, cols + 1, n); };
  const auto refused = [&](const char* what, cview<V> wrong_x, view<V> wrong_y) {
    const auto is_usage = [&](auto&& product) {
      EXPECT_NE(kit::said_by(fault::usage, [&] { product(); }), "") << what;
    };
    is_usage([&] { op.apply(V(1), wrong_x, V(0), wrong_y); });
    is_usage([&] { op.apply(V(0), wrong_x, V(1), wrong_y); });
    double never_written = 0;
    is_usage([&] { op.apply_dot(wrong_x, wrong_y, slot{&never_written}); });
    is_usage([&] { op.apply_dot(wrong_x, wrong_y, wrong_y, slot{&never_written}); });
  };
  refused("a long x", x(cols + 1), y(rows));
  refused("a long y", x(cols), y(rows + 1));
  refused("a size below zero", {nullptr, -1}, y(rows));
  if (cols > 0) refused("a short x", x(cols - 1), y(rows));
  if (rows > 0) refused("a short y", x(cols), y(rows - 1));
  if (cols > 0) refused("no memory for x", {nullptr, cols}, y(rows));
  if (rows > 0) refused("no memory for y", x(cols), {nullptr, rows});
  if (rows > 0 && cols > 0) refused("shared memory", x(cols), part(all, cols - 1, rows));
  if (rows > 1) {
    guarded<V, Side> other(random_vector<V>(rows + 1, 110));
    const view<V> other_y = part(other.get(), 0, rows), crossing = part(other.get(), 1, rows);
    const auto refuses = [&](const char* what, const epilogue<V>& e) {
      EXPECT_THROW(op.apply_with(x(cols), other_y, e), error) << what;
    };
    double never_written = 0;
    const slot nowhere{&never_written};
    const auto all_x = as_cview(part(all, 0, rows)); // of some size
    refuses("a long b", {other.get()});
    refuses("a b that crosses y", {crossing});
    refuses("a long u", {{}, {other.get(), nowhere}});
    refuses("a u that crosses y", {{}, {crossing, nowhere}});
    refuses("a u without memory", {{}, {cview<V>(nullptr, rows), nowhere}});
    refuses("a long w", {{}, {}, {all_x, other.get(), nowhere}});
    refuses("a w that crosses y", {{}, {}, {all_x, crossing, nowhere}});
    refuses("a w that is y", {{}, {}, {all_x, other_y, nowhere}});
    refuses("sums of both kinds", {{}, {all_x, nowhere}, {all_x, all_x, nowhere}});
    EXPECT_THROW(op.exact_residual(other.get(), x(cols), other_y), error) << "a long b";
    EXPECT_THROW(op.exact_residual(crossing, x(cols), other_y), error) << "a b that crosses r";
    EXPECT_THROW(op.exact_residual({nullptr, rows}, x(cols), other_y), error) << "a b without memory";
    EXPECT_THROW(op.exact_residual(other_y, x(cols), other.get()), error) << "a long r";
    EXPECT_TRUE(same_bits(as_cview(other.take()), as_cview(random_vector<V>(rows + 1, 110)))) << "written before";
  }
  EXPECT_TRUE(same_bits(as_cview(room.take()), as_cview(before))) << "written before the refusal";
}

/// Everything above, for the operator that `make` makes of `a`; gives it back.
template <class V, class Side>
std::unique_ptr<any_operator<V>> check_operator(const operator_maker<V>& make, const judged<V>& a, int repeats = runs) {
  auto op = make(a.a);
  EXPECT_EQ(op->shape(), a.shape);
  // The first seven tell zeros, ones and other numbers apart, as loops do: with sanitizers they are enough of a matrix
  // that is large, where every loop is run by several threads all the same.
  constexpr double factors[][2] = {{1, 0},       {1, 1},  {-1, 1}, {0, 0},   {0, 1},    {0, 0.5},
                                   {1.25, 0.75}, {0, -1}, {-1, 0}, {0.5, 2}, {2, -0.5}, {1, -1}};
  const int tried = kit::repeats(12, a.shape.rows >= 20000 ? 7 : 12);
  for (int k = 0; k < tried; ++k) check_apply<V, Side>(*op, a, V(factors[k][0]), V(factors[k][1]));
  for (const index_t shift : {1, 2, 3}) check_apply<V, Side>(*op, a, V(1), V(0.5), shift);
  check_repeatable<V, Side>(*op, a, repeats);
  check_epilogues<V, Side>(*op, a);
  check_exact_residual<V, Side>(*op, a);
  check_refusals<V, Side>(*op);
  check_zero_alpha_skips_matrix<V, Side>(make, a);
  return op;
}

/// A format's kernel on `where` (selected already): the operator's promises, and the bytes that the format states.
template <class V, class Side>
void check_format(const format_entry& format, std::string_view parameters, std::string_view kernel, device where,
                  const judged<V>& a, int repeats = runs) {
  const auto make = [&](coo<V> matrix) {
    return format.backend(where).template make<V>()(std::move(matrix), parameters, kernel);
  };
  const layout stated = format.lay_out(a.statistics(), precision_of<V>, parameters);
  if (!stated.refusal.empty()) return;
  const auto op = check_operator<V, Side>(make, a, repeats);
  EXPECT_EQ(op->where(), where);
  if (stated.exact) {
    EXPECT_EQ(op->stored_bytes(), stated.bytes);
  }
  EXPECT_EQ(op->bytes_per_apply(), op->stored_bytes() + double(sizeof(V)) * double(a.shape.rows + a.shape.cols));
  if (kernel != "auto") {
    EXPECT_TRUE(op->kernel().starts_with(kernel)) << "asked for " << kernel << ", got " << op->kernel();
  }
}

/// What `check_all_formats` goes through: all kernels with all parameters, or with each of them once.
enum class pairs { all, of_each };

/// All formats and all their kernels that run on `where`, in one precision, over `matrices`.
template <class V, class Side>
void check_all_formats(device where, const std::vector<named_matrix>& matrices, int repeats = runs,
                       pairs tried = pairs::all) {
  for (const named_matrix& m : matrices) {
    const coo<V> a = as_precision<V>(m.a);
    const judged<V> judge(a);
    for (const format_entry* f : formats()) {
      if (!f->backend(where).template make<V>()) continue;
      std::vector<std::string_view> kernels{"auto"};
      for (const kernel_entry& k : f->backend(where).kernels) kernels.push_back(k.name);
      std::vector<std::string_view> parameters{""};
      parameters.insert(parameters.end(), f->examples.begin(), f->examples.end());
      for (const std::string_view asked : parameters)
        for (const std::string_view kernel : kernels) {
          if (tried == pairs::of_each && !asked.empty() && kernel != "auto") continue;
          SCOPED_TRACE(std::string(f->name) + ":" + std::string(asked) + " by " + std::string(kernel) + ", " +
                       std::to_string(8 * sizeof(V)) + " bits: " + m.name);
          check_format<V, Side>(*f, asked, kernel, where, judge, repeats);
          if (testing::Test::HasFatalFailure()) return;
        }
    }
  }
}

} // namespace furrow::kit
