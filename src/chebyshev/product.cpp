// SPDX-License-Identifier: BSD-3-Clause
#include "classic.hpp"
#include "engine.hpp"
#include "overflow.hpp"

#include "backends/cpu/all_finite.hpp"
#include "core/check.hpp"
#include "core/kernel_numbers.hpp"

#include <furrow/value.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace furrow::chebyshev {
namespace {

/// Lengths whose sums and transforms stay far inside 64 bits.
constexpr index_t largest_length = index_t(1) << 48;

product_task task_of(index_t na, index_t nb, index_t count, const product_options& options, bool single) {
  check(na > 0 && nb > 0, fault::usage,
        "a series is empty: each factor of a Chebyshev product needs at least one coefficient");
  check(count > 0, fault::usage, "a batch needs at least one product, not {}", count);
  check(na <= largest_length && nb <= largest_length, fault::usage, "a series may have at most 2^48 coefficients");
  product_task t{{na, nb, options.keep.value_or(na + nb - 1)}, count, options.series, options.how, options.block};
  check(t.shape.keep > 0 && t.shape.keep <= 2 * largest_length, fault::usage,
        "a product keeps at least one coefficient, at most 2^49, not {}", t.shape.keep);
  check(!is_classic(t.how) || options.where.is_gpu(), fault::usage,
        "the kernel '{}' needs a GPU: on the CPU choose auto, direct or fft", name_of(t.how));
  classic_block(t.how, t.block, lanes_of_a_warp);
  if (t.how == algorithm::automatic) t.how = choose(t.shape, count, options.wanted, options.where, single);
  return t;
}

/// Bytes that a plan takes, about; refused before any is taken.
void check_memory(const product_task& t, device where, std::size_t value) {
  const double m = double(points_needed(t.shape)), count = double(t.count);
  double bytes = double(value) * (2 * double(t.shape.na + t.shape.nb));
  if (t.how == algorithm::fft) bytes = where.is_gpu() ? 50 * m * count : 8 * m * 7;
  constexpr double little = 1 << 24; // to ask what is available takes as long as a short product
  if (bytes <= little) return;
  const auto available = double(where.is_gpu() ? available_gpu_memory(where.ordinal) : available_host_memory());
  check(bytes <= available, fault::memory,
        "a product of {} by {} coefficients takes about {:.0f} MB, and {:.0f} MB are available", t.shape.na, t.shape.nb,
        std::ceil(bytes / 1e6), std::floor(available / 1e6));
}

template <class V> engine_pointer<V> make_engine(const product_task& task, device where) {
  check_memory(task, where, sizeof(V));
  if (!where.is_gpu()) return task.how == algorithm::fft ? cpu_fft<V>(task) : cpu_sums<V>(task);
  select_device(where);
#if FURROW_HAS_GPU
  if (task.how == algorithm::fft) return gpu_fft<V>(task);
  return task.how == algorithm::direct ? gpu_sums<V>(task) : gpu_classic<V>(task);
#else
  throw error(fault::device, "this build has no GPU part: it was compiled without nvcc");
#endif
}

} // namespace

template <class V> void check_finite(const char* name, cview<V> a) {
  if (cpu::all_finite(a)) return;
  const V* const wrong = std::find_if(a.begin(), a.end(), [](V v) { return !std::isfinite(v); });
  throw error(fault::input, fmt::format("coefficient {} of the {} series is {}: products are of finite numbers",
                                        wrong - a.begin(), name, *wrong));
}
template void check_finite(const char*, cview<double>);
template void check_finite(const char*, cview<float>);

template <class V>
product_plan<V>::product_plan(index_t na, index_t nb, index_t count, const product_options& options)
    : engine_(make_engine<V>(task_of(na, nb, count, options, !is_wide<V>), options.where)) {}
template <class V> product_plan<V>::product_plan(product_plan&&) noexcept = default;
template <class V> product_plan<V>& product_plan<V>::operator=(product_plan&&) noexcept = default;
template <class V> product_plan<V>::~product_plan() = default;

namespace {
/// Whether so many series go into `count` products.
void check_batch(bool fits, index_t count) {
  check(fits, fault::usage, "this plan is for {} products: it takes one series or as many for each factor", count);
}

/// Elements [begin, end) from the first to the last of a batch, counted from address 0.
struct extent {
  index_t begin = 0, end = 0;
};
template <class V> extent extent_of(const batch<V>& all, index_t length) {
  const auto at = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(all.data) / sizeof(V));
  const index_t last = at + (all.count - 1) * all.stride;
  return {std::min(at, last), std::max(at, last) + length};
}

/// Whether one of the products, `length` coefficients each, shares memory with one of the factors, `of` each. They may
/// stand side by side, one product behind each pair of factors.
template <class V> bool meet(const batch<V>& products, index_t length, const batch<const V>& factors, index_t of) {
  const extent p = extent_of(products, length), f = extent_of(factors, of);
  if (p.end <= f.begin || f.end <= p.begin) return false;
  const index_t stride = std::abs(factors.stride);
  for (index_t s = 0; s < products.count; ++s) {
    const index_t begin = p.begin + s * std::abs(products.stride), behind = begin - of - f.begin;
    index_t next = 0; // the first factor that ends behind the begin of the product
    if (behind >= 0) next = stride > 0 ? behind / stride + 1 : factors.count;
    if (next < factors.count && f.begin + next * stride < begin + length) return true;
  }
  return false;
}

/// Products are written by several threads, into memory of their own.
template <class V> void check_room(batch<V> products, index_t length) {
  check(products.count == 1 || std::abs(products.stride) >= length, fault::usage,
        "the products are {} coefficients from one to the next, but each has {}: give each its own memory",
        products.stride, length);
}
template <class V> void check_apart(batch<V> products, index_t length, batch<const V> factors, index_t of) {
  check(!meet(products, length, factors, of), fault::usage,
        "the products share memory with a factor: give them memory of their own");
}

/// What a plan keeps; one that was moved from keeps nothing.
template <class Engine> Engine& there(const std::unique_ptr<Engine>& engine) {
  check(engine != nullptr, fault::usage, "this plan is empty, it was moved to another one: use that");
  return *engine;
}
} // namespace

template <class V> void product_plan<V>::multiply(batch<const V> a, batch<const V> b, batch<V> c) {
  engine& own = there(engine_);
  const index_t count = own.task.count;
  const auto fits = [count](index_t n) { return n == 1 || n == count; };
  check_batch(fits(a.count) && fits(b.count) && c.count == count, count);
  check(a.data && b.data && c.data, fault::usage,
        "a factor or the product points nowhere: give all three their memory");
  const product_shape& n = own.task.shape;
  check_room(c, n.keep);
  check_apart(c, n.keep, a, n.na);
  check_apart(c, n.keep, b, n.nb);
  own.run(a, b, c);
}
template <class V> void product_plan<V>::fix(const V* a) {
  engine& own = there(engine_);
  check(a != nullptr, fault::usage, "the factor to fix points nowhere");
  own.fix(a);
}
template <class V> void product_plan<V>::multiply_fixed(batch<const V> b, batch<V> c) {
  engine& own = there(engine_);
  const index_t count = own.task.count;
  check_batch((b.count == 1 || b.count == count) && c.count == count, count);
  check(b.data && c.data, fault::usage, "a factor or the product points nowhere: give both their memory");
  check_room(c, own.task.shape.keep);
  check_apart(c, own.task.shape.keep, b, own.task.shape.nb);
  own.run_fixed(b, c);
}
template <class V> index_t product_plan<V>::size() const { return there(engine_).task.shape.keep; }
template <class V> algorithm product_plan<V>::how() const { return there(engine_).task.how; }
template <class V> index_t product_plan<V>::transform() const { return there(engine_).transform(); }
template <class V> double product_plan<V>::memory_bytes() const { return there(engine_).memory_bytes(); }

template <class V> host_array<V> multiply(cview<V> a, cview<V> b, const product_options& options) {
  product_plan<V> plan(a.size, b.size, 1, options);
  check(a.data && b.data, fault::usage, "factors of {} and {} coefficients point nowhere", a.size, b.size);
  check_finite("first", a);
  check_finite("second", b);
  host_array<V> c(plan.size());
  if (!options.where.is_gpu()) {
    plan.multiply({a.data}, {b.data}, {c.data()});
    return c;
  }
  gpu_array<V> there_a(a.size), there_b(b.size), there_c(c.size());
  copy_bytes(gpu_memory{}, there_a.data(), host_memory{}, a.data, there_a.byte_count());
  copy_bytes(gpu_memory{}, there_b.data(), host_memory{}, b.data, there_b.byte_count());
  plan.multiply({there_a.data()}, {there_b.data()}, {there_c.data()});
  copy_bytes(host_memory{}, c.data(), gpu_memory{}, there_c.data(), c.byte_count());
  mend_overflow(a, b, options.series, as_view(c));
  return c;
}

template class product_plan<double>;
template class product_plan<float>;
template host_array<double> multiply(cview<double>, cview<double>, const product_options&);
template host_array<float> multiply(cview<float>, cview<float>, const product_options&);

} // namespace furrow::chebyshev
