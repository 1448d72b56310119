// SPDX-License-Identifier: BSD-3-Clause
// cpu_chebyshev product|call|values [--threads N] [--repeat N]: prints one JSON object with the seconds of all threads
// together and by the clock, of each repeat. cpu_chebyshev.py runs it in turns with numpy.
//   product  two series of 10000 coefficients, all of their product, by transforms, with a plan
//   call     the same by a call of `multiply`, without a plan
//   values   a series of degree 1000 at a million points
#include <furrow/chebyshev.hpp>
#include <furrow/device.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace {

using namespace furrow;

host_array<double> waves(index_t size, double step) {
  host_array<double> x(size);
  for (index_t k = 0; k < size; ++k) x[k] = std::sin(step * double(k + 1));
  return x;
}

std::function<void()> work(const std::string& what) {
  constexpr index_t n = 10000;
  if (what == "values") {
    chebyshev::series s{waves(1001, 0.7), {-1, 1}};
    return [s = std::move(s), x = waves(1000000, 0.3), y = host_array<double>(1000000)]() mutable {
      chebyshev::evaluate(s, as_cview(x), as_view(y));
    };
  }
  chebyshev::product_options options;
  options.how = chebyshev::algorithm::fft;
  if (what == "call")
    return [=, a = waves(n, 0.7), b = waves(n, 0.3)] { chebyshev::multiply(as_cview(a), as_cview(b), options); };
  if (what == "product")
    return [plan = std::make_shared<chebyshev::product_plan<double>>(n, n, 1, options), a = waves(n, 0.7),
            b = waves(n, 0.3),
            c = host_array<double>(2 * n - 1)]() mutable { plan->multiply({a.data()}, {b.data()}, {c.data()}); };
  throw error(fault::usage, "'" + what + "' is none of product, call, values");
}

} // namespace

int main(int count, char** words) try {
  std::string what;
  int threads = 0, repeat = 1;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (word == "--threads" && k + 1 < count) threads = std::atoi(words[++k]);
    else if (word == "--repeat" && k + 1 < count) repeat = std::atoi(words[++k]);
    else what = word;
  }
  furrow::set_threads(threads);
  const std::function<void()> once = work(what);
  nlohmann::json core = nlohmann::json::array(), clock = nlohmann::json::array();
  for (int k = 0; k < repeat; ++k) {
    const std::clock_t before = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    once();
    clock.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    core.push_back(double(std::clock() - before) / CLOCKS_PER_SEC);
  }
  std::puts(nlohmann::json{{"seconds", clock}, {"core_seconds", core}}.dump().c_str());
} catch (const furrow::error& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 3;
}
