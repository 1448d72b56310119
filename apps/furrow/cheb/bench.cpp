// SPDX-License-Identifier: BSD-3-Clause
#include "bench_runs.hpp"
#include "exit_code.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "product_command.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "chebyshev/classic.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::cli::cheb_command {
namespace {

using namespace chebyshev;

struct bench_request {
  index_t length = document_size; ///< of the series of the known experiment
  std::vector<index_t> sizes{1000, 10000, 100000};
  machine_options machine;
  bool json = false;
};

/// Of the sums of the second table on the CPU: longer ones take seconds each.
constexpr index_t longest_direct = 30000;

std::vector<algorithm> algorithms_on(device where) {
  if (!where.is_gpu()) return {algorithm::direct, algorithm::fft};
  std::vector<algorithm> all{algorithm::direct, algorithm::fft};
  all.insert(all.end(), classic_algorithms.begin(), classic_algorithms.end());
  return all;
}

/// Milliseconds that the source says for this run, on a V100 in single precision; 0: nothing.
double claimed_milliseconds(const product_run& r) {
  if (r.n != document_size || r.keep != r.n || r.series != convention::primed) return 0;
  return r.how == algorithm::thread ? 1.687 : r.how == algorithm::block ? 0.350 : 0;
}

std::string text_of_experiment(const std::vector<product_run>& runs, device where) {
  const index_t n = runs.front().n;
  const bool claims = std::ranges::any_of(runs, [](const auto& r) { return claimed_milliseconds(r) > 0; });
  std::string text = fmt::format("{}  {} coefficients of {} and of {}, as many kept\n\n", bold("The known experiment"),
                                 count_text(n), document_a, document_b);
  text += dim(fmt::format("  {:<10} {:<11} {:>10} {:>10} {:>13} {:>13}{}", "convention", "algorithm", "c_0", "c_1",
                          "error", "time", claims ? "     claimed" : "")) +
          "\n";
  for (const product_run& r : runs) {
    const double claimed = claimed_milliseconds(r);
    text += fmt::format("  {:<10} {:<11} {:>10.4f} {:>10.4f} {:>13.1e} {:>13}{}\n", name_of(r.series), name_of(r.how),
                        r.first, r.second, r.error, seconds_text(r.seconds),
                        claimed > 0 ? fmt::format(" {:>11}", seconds_text(1e-3 * claimed)) : "");
  }
  for (const convention series : {convention::primed, convention::plain})
    text += fmt::format("  {:<10} {:<11} {:>10.4f} {:>10.4f}\n", name_of(series), "truth",
                        constant_product(series, n, 0), constant_product(series, n, 1));
  text += "\n  The source claims 199.99 and 199.98 of 10,000 coefficients, which is true of primed series only; its "
          "times are of\n  a V100 in f32.";
  if (!where.is_gpu())
    text += " Its kernels need a GPU, or are played: furrow cheb multiply --device play --algorithm thread";
  return text + "\n\n";
}

std::string text_of(const std::vector<product_run>& document, const std::vector<product_run>& table,
                    const batch_run& many, device where) {
  std::string text = text_of_experiment(document, where);
  text += dim(fmt::format("  {:>9} {:>10} {:<11} {:>10} {:>16} {:>9}", "n", "kept", "algorithm", "time",
                          "bare transforms", "times")) +
          "\n";
  for (const product_run& r : table)
    text += fmt::format("  {:>9} {:>10} {:<11} {:>10} {:>16} {:>9}\n", count_text(r.n), count_text(r.keep),
                        name_of(r.how), seconds_text(r.seconds), r.bare > 0 ? seconds_text(r.bare) : "",
                        r.bare > 0 ? fmt::format("{:.2f}", r.seconds / r.bare) : "");
  if (!where.is_gpu() && std::ranges::any_of(table, [](const auto& r) { return r.n > longest_direct; }))
    text += fmt::format("\n  direct is left out beyond {} coefficients, where it takes seconds on the CPU.\n",
                        count_text(longest_direct));
  text += fmt::format("\n  {} products of {} coefficients by {}: {} together, {} one by one ({:.1f} times)\n",
                      count_text(many.count), many.n, name_of(many.how), seconds_text(many.together),
                      seconds_text(many.one_by_one), many.one_by_one / many.together);
  return text;
}

cli::json json_of(const product_run& r) {
  cli::json j{{"n", r.n},
              {"keep", r.keep},
              {"convention", name_of(r.series)},
              {"algorithm", name_of(r.how)},
              {"seconds", r.seconds},
              {"c_0", number(r.first)},
              {"c_1", number(r.second)},
              {"error", number(r.error)}};
  if (r.bare > 0) j["bare_transform_seconds"] = r.bare;
  if (claimed_milliseconds(r) > 0) j["claimed_seconds"] = 1e-3 * claimed_milliseconds(r);
  return j;
}

int run_bench(const bench_request& q) {
  const device where = q.machine.apply();
  std::vector<product_run> document, table;
  for (const convention series : {convention::primed, convention::plain})
    for (const algorithm how : algorithms_on(where))
      document.push_back(measure_product(q.machine.values(), q.length, q.length, series, how, where));
  for (const index_t n : q.sizes)
    for (const algorithm how : algorithms_on(where)) {
      if (!where.is_gpu() && how == algorithm::direct && n > longest_direct) continue;
      for (const index_t keep : {n, 2 * n - 1})
        if (keep == n || !is_classic(how))
          table.push_back(measure_product(q.machine.values(), n, keep, convention::primed, how, where));
    }
  const batch_run many = measure_batch(q.machine.values(), where);
  if (!q.json) {
    print(text_of(document, table, many, where));
    return done;
  }
  cli::json j{{"device", describe(where)}, {"precision", q.machine.precision_name}, {"threads", threads()}};
  for (const auto& [name, runs] : {std::pair{"document", &document}, std::pair{"results", &table}}) {
    j[name] = cli::json::array();
    for (const product_run& r : *runs) j[name].push_back(json_of(r));
  }
  j["batch"] = {{"n", many.n},
                {"count", many.count},
                {"algorithm", name_of(many.how)},
                {"seconds", many.together},
                {"seconds_one_by_one", many.one_by_one}};
  print(json_text(j, 2));
  return done;
}

} // namespace

std::function<int()> add_bench(CLI::App& app, context& shared) {
  auto q = std::make_shared<bench_request>();
  app.add_option("-n,--length", q->length, "coefficients of a series of the known experiment (default 10000)")
      ->type_name("N")
      ->transform(whole(1, index_t(1) << 30));
  const auto take_sizes = [q](const std::string& list) {
    q->sizes.clear();
    for (std::string item : items_of(list, "--sizes")) {
      const std::string wrong = whole(1, index_t(1) << 30)(item);
      if (!wrong.empty()) throw CLI::ValidationError("--sizes", wrong);
      q->sizes.push_back(std::stoll(item));
    }
  };
  app.add_option_function<std::string>("--sizes", take_sizes,
                                       "lengths of the series of the second table (default 1000,10000,100000)")
      ->type_name("N,...");
  add_json(app, q->json);
  q->machine.add(app, shared);
  app.footer("The first table repeats a known experiment with its data; the truth is known in closed form. In the "
             "second, 'bare\n"
             "transforms' is what cuFFT, on the CPU ducc0, takes for the two transforms that a product needs and "
             "nothing else.\n\n"
             "Examples:\n"
             "  furrow cheb bench --device gpu --precision f32\n"
             "  furrow cheb bench -n 4096\n"
             "  furrow cheb bench --sizes 10000,100000,1000000 --json");
  return [q] { return run_bench(*q); };
}

} // namespace furrow::cli::cheb_command
