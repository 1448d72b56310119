// SPDX-License-Identifier: BSD-3-Clause
#include "bench_runs.hpp"
#include "exit_code.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "product_command.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <fmt/format.h>

namespace furrow::cli::cheb_command {
namespace {

using namespace chebyshev;

struct bench_request {
  std::vector<index_t> sizes{1000, 10000, 100000};
  machine_options machine;
  bool json = false;
};

std::vector<algorithm> algorithms_on(device where) {
  if (!where.is_gpu()) return {algorithm::direct, algorithm::fft};
  return {algorithm::direct, algorithm::fft, algorithm::thread, algorithm::block, algorithm::warp};
}

/// What the source says of a kernel on a V100 in single precision, in milliseconds; 0: nothing.
double claimed_milliseconds(algorithm how) {
  return how == algorithm::thread ? 1.687 : how == algorithm::block ? 0.350 : 0;
}

std::string text_of(const std::vector<product_run>& document, const std::vector<product_run>& table,
                    const batch_run& many) {
  std::string text = fmt::format("{}  {} coefficients of {} and of {}, as many kept\n\n", bold("The known experiment"),
                                 count_text(document_size), document_a, document_b);
  text += dim(fmt::format("  {:<10} {:<9} {:>10} {:>10} {:>13} {:>13} {:>11}", "convention", "algorithm", "c_0", "c_1",
                          "error", "time", "claimed")) +
          "\n";
  for (const product_run& r : document) {
    const double claimed = r.series == convention::primed ? claimed_milliseconds(r.how) : 0;
    text += fmt::format("  {:<10} {:<9} {:>10.4f} {:>10.4f} {:>13.1e} {:>13} {:>11}\n", name_of(r.series),
                        name_of(r.how), r.first, r.second, r.error, seconds_text(r.seconds),
                        claimed > 0 ? seconds_text(1e-3 * claimed) : "");
  }
  for (const convention series : {convention::primed, convention::plain})
    text += fmt::format("  {:<10} {:<9} {:>10.4f} {:>10.4f}\n", name_of(series), "truth",
                        constant_product(series, document_size, 0), constant_product(series, document_size, 1));
  text += "\n  The source claims 199.99 and 199.98, which is true of primed series only; its times are of a V100 in "
          "f32.\n\n";
  text += dim(fmt::format("  {:>9} {:>10} {:<9} {:>10} {:>16} {:>9}", "n", "kept", "algorithm", "time",
                          "bare transforms", "times")) +
          "\n";
  for (const product_run& r : table)
    text += fmt::format("  {:>9} {:>10} {:<9} {:>10} {:>16} {:>9}\n", count_text(r.n), count_text(r.keep),
                        name_of(r.how), seconds_text(r.seconds), r.bare > 0 ? seconds_text(r.bare) : "",
                        r.bare > 0 ? fmt::format("{:.2f}", r.seconds / r.bare) : "");
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
  if (claimed_milliseconds(r.how) > 0 && r.n == document_size && r.series == convention::primed)
    j["claimed_seconds"] = 1e-3 * claimed_milliseconds(r.how);
  return j;
}

int run_bench(const bench_request& q) {
  const device where = q.machine.apply();
  std::vector<product_run> document, table;
  for (const convention series : {convention::primed, convention::plain})
    for (const algorithm how : algorithms_on(where))
      document.push_back(measure_product(q.machine.values(), document_size, document_size, series, how, where));
  for (const index_t n : q.sizes)
    for (const algorithm how : algorithms_on(where)) {
      if (!where.is_gpu() && how == algorithm::direct && n > 30000) continue; // seconds each
      const bool classic = how != algorithm::direct && how != algorithm::fft;
      for (const index_t keep : {n, 2 * n - 1})
        if (keep == n || !classic)
          table.push_back(measure_product(q.machine.values(), n, keep, convention::primed, how, where));
    }
  const batch_run many = measure_batch(q.machine.values(), where);
  if (!q.json) {
    print(text_of(document, table, many));
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
  app.add_option("--sizes", q->sizes, "lengths of the series (default 1000,10000,100000)")
      ->delimiter(',')
      ->type_name("N,...")
      ->transform(whole(1, index_t(1) << 30));
  add_json(app, q->json);
  q->machine.add(app, shared);
  app.footer("The first table repeats a known experiment with its data; the truth is known in closed form. In the "
             "second, 'bare\n"
             "transforms' is what cuFFT takes for the two transforms that a product needs and nothing else.\n\n"
             "Examples:\n"
             "  furrow cheb bench --device gpu --precision f32\n"
             "  furrow cheb bench --sizes 10000,100000,1000000 --json");
  return [q] { return run_bench(*q); };
}

} // namespace furrow::cli::cheb_command
