// SPDX-License-Identifier: BSD-3-Clause
// gpu_chebyshev: products of Chebyshev series, values at points, series in an operator and spectral densities on a GPU.
//   gpu_chebyshev [--json FILE] [LARGEST]      LARGEST: longest series of a product (default 10000000)
#include "chebyshev/bare_transforms.hpp"
#include "tune/timing.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/chebyshev/product.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

using nlohmann::json;
namespace furrow::bench {
namespace {

using namespace chebyshev;

template <class V> constexpr const char* precision_name = sizeof(V) == 4 ? "f32" : "f64";

/// Median seconds of a call, by events around each, when the clocks of the device have been awake for a while.
double median(const std::function<void()>& call, double budget = 0.05) {
  const double once = std::ranges::min(gpu::time_calls(call, 3));
  gpu::time_calls(call, int(std::clamp(budget / once, 3.0, 2000.0)));
  auto seconds = gpu::time_calls(call, int(std::clamp(budget / once, 3.0, 500.0)));
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

template <class V> host_array<V> waves(index_t n, double step) {
  host_array<V> x(n);
  for (index_t i = 0; i < n; ++i) x[i] = static_cast<V>(std::sin(step * double(i + 1)));
  return x;
}

template <class V> void products(device where, index_t largest, json& results) {
  for (index_t n = 1000; n <= largest; n *= 10) {
    const gpu_array<V> a(waves<V>(n, 0.7)), b(waves<V>(n, 1.3));
    gpu_array<V> c(2 * n - 1);
    for (const index_t keep : {n, 2 * n - 1})
      for (const auto how : {algorithm::direct, algorithm::fft, algorithm::thread, algorithm::block,
                             algorithm::block_sweep, algorithm::warp}) {
        if (how != algorithm::fft && (n > 100000 || (keep > n && how != algorithm::direct))) continue;
        product_plan<V> plan(n, n, 1, {convention::plain, keep, how, accuracy::normwise, where});
        const double seconds = median([&] { plan.multiply({a.data()}, {b.data()}, {c.data()}); });
        json r{{"precision", precision_name<V>},
               {"n", n},
               {"keep", keep},
               {"algorithm", name_of(how)},
               {"seconds", seconds}};
        fmt::print("{} n {:>8} keep {:>8} {:<7} {:10.2f} us", precision_name<V>, n, keep, name_of(how), 1e6 * seconds);
        if (how == algorithm::fft) {
          const double bare = median(bare_transforms(plan.transform()));
          r["points"] = plan.transform();
          r["bare_transform_seconds"] = bare;
          fmt::print("   bare {:10.2f} us, {:.2f} times", 1e6 * bare, seconds / bare);
        }
        fmt::print("\n");
        results.push_back(r);
      }
  }
}

/// 1000 products of 256 coefficients, together and one by one.
template <class V> void batches(device where, json& results) {
  const index_t n = 256, count = 1000, m = 2 * n - 1;
  const gpu_array<V> a(waves<V>(n * count, 0.7)), b(waves<V>(n * count, 1.3));
  gpu_array<V> c(m * count);
  const product_options o{convention::plain, {}, algorithm::automatic, accuracy::normwise, where};
  product_plan<V> all(n, n, count, o), one(n, n, 1, o);
  const double together = median([&] {
    all.multiply({a.data(), count, n}, {b.data(), count, n}, {c.data(), count, m});
  });
  const double each = median([&] {
    for (index_t s = 0; s < count; ++s) one.multiply({a.data() + s * n}, {b.data() + s * n}, {c.data() + s * m});
  });
  fmt::print("{} {} products of {} by {}: {:.2f} us together, {:.1f} us one by one, {:.1f} times\n", precision_name<V>,
             count, n, name_of(all.how()), 1e6 * together, 1e6 * each, each / together);
  results.push_back({{"precision", precision_name<V>},
                     {"n", n},
                     {"count", count},
                     {"algorithm", name_of(all.how())},
                     {"seconds", together},
                     {"seconds_one_by_one", each}});
}

/// 1000 degrees at ten million points, spread evenly, so that neighbours are near each other, or in no order.
template <class V> void values(device where, json& results) {
  const index_t count = 10'000'000, length = 1001;
  const gpu_array<V> a(waves<V>(length, 0.7));
  gpu_array<V> y(count);
  for (const bool sorted : {true, false}) {
    host_array<V> at(count);
    for (index_t i = 0; i < count; ++i)
      at[i] = static_cast<V>(2 * double(sorted ? i : i * 7'368'787 % count) / double(count - 1) - 1);
    const gpu_array<V> x(at);
    const double seconds = median([&] { evaluate(where, as_cview(a), interval{}, as_cview(x), as_view(y)); });
    const double rate = double(count) * double(length - 1) / seconds;
    fmt::print("{} values of degree {} at {} points, {}: {:.3f} ms, {:.3g} steps/s\n", precision_name<V>, length - 1,
               count, sorted ? "sorted" : "mixed", 1e3 * seconds, rate);
    results.push_back({{"precision", precision_name<V>},
                       {"degree", length - 1},
                       {"points", count},
                       {"sorted", sorted},
                       {"seconds", seconds},
                       {"steps_per_second", rate}});
  }
}

template <class V> void in_operator(device where, json& results) {
  const problem p = generate("poisson3d:200");
  const coo<V> a = convert_values<V>(coo<double>(p.a));
  const index_t n = a.shape.rows, degree = 100;
  const interval on = gershgorin(a);
  const gpu_array<V> x(waves<V>(n, 0.7));
  gpu_array<V> y(n);
  series s{waves<double>(degree + 1, 1.1), on};
  for (const bool centred : {true, false}) {
    const auto op = find_format("csr").gpu.make<V>()(centred ? centre(a, on) : a, {}, "auto");
    const double bare = median([&] { op->apply(V(1), as_cview(x), V(0), as_view(y)); });
    const double update = median([&] { op->apply(V(1), as_cview(x), V(-1), as_view(y)); });
    const symmetric_operator<V> in{*op, where, centred};
    const double each = median([&] { apply(s, in, as_cview(x), as_view(y)); }, 0.5) / double(degree);
    fmt::print("{} p(A) x of poisson3d:200 {}: {:.1f} us a degree, bare product {:.1f} us, with update {:.1f} us, "
               "{:.3f} times\n",
               precision_name<V>, centred ? "centred" : "as it is", 1e6 * each, 1e6 * bare, 1e6 * update, each / bare);
    results.push_back({{"precision", precision_name<V>},
                       {"matrix", "poisson3d:200"},
                       {"kernel", op->kernel()},
                       {"centred", centred},
                       {"degree", degree},
                       {"seconds_a_degree", each},
                       {"bare_product", bare},
                       {"updating_product", update},
                       {"bytes_a_degree", bytes_per_degree(in)}});
  }
}

void densities(device where, json& results) {
  const problem p = generate("poisson3d:100");
  const interval outer = gershgorin(p.a);
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto began = now();
  const auto op = find_format("csr").gpu.make<double>()(centre(p.a, outer), {}, "auto");
  const auto ready = now();
  for (int turn = 0; turn < 2; ++turn) {
    const auto start = now();
    const auto d = density<double>({*op, where, true}, outer);
    const double seconds = std::chrono::duration<double>(now() - start).count();
    const double setup = std::chrono::duration<double>(ready - began).count();
    fmt::print("density of poisson3d:100, 512 moments, 8 vectors: {:.3f} s, setup {:.3f} s, half of it {:.0f}\n",
               seconds, setup, d.count_below(6));
    results.push_back({{"matrix", "poisson3d:100"},
                       {"moments", 512},
                       {"vectors", 8},
                       {"seconds", seconds},
                       {"setup_seconds", setup}});
  }
}

void run(const std::string& out, index_t largest) {
  const device where = parse_device("gpu");
  select_device(where);
  const auto status = inspect_gpus();
  json all{{"device", status.gpus[0].name}, {"driver", status.driver_version}, {"runtime", status.runtime_version}};
  if (const char* commit = std::getenv("FURROW_COMMIT")) all["commit"] = commit;
  products<double>(where, largest, all["products"]);
  products<float>(where, largest, all["products"]);
  batches<double>(where, all["batch"]);
  batches<float>(where, all["batch"]);
  values<double>(where, all["values"]);
  values<float>(where, all["values"]);
  in_operator<double>(where, all["operator"]);
  densities(where, all["density"]);
  if (!out.empty()) std::ofstream(out) << all.dump(1) << "\n";
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  std::string out;
  furrow::index_t largest = 10'000'000;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json" && i + 1 < argc) out = argv[++i];
    else largest = std::atoll(word.c_str());
  }
  try {
    furrow::bench::run(out, largest);
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_chebyshev: {}\n", e.what());
    return 1;
  }
}
