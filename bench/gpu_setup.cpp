// SPDX-License-Identifier: BSD-3-Clause
// gpu_setup: what the way from a matrix to the format that `auto` takes costs on a GPU, in products of that format.
//   gpu_setup [--json FILE] [SPEC_OR_FILE...]
// From triplets in host memory, and from compressed rows that lie on the GPU. The first time, in which kernels are
// loaded, and the median of those after it. The parts are of one more turn from triplets, each waited for.
#include "measure.hpp"
#include "request.hpp"

#include "matrix/source.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <vector>

using nlohmann::json;
namespace furrow::bench {
namespace {

constexpr int turns = 7, products = 200;

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

void wait_for_gpu() { // copies to the host are waited for
  const gpu_array<double> one(1, 0.0);
  const host_array<double> home(one);
}

struct times {
  double first = 0, later = 0;
};
template <class Make> times in_turns(const Make& make) {
  times t;
  std::vector<double> later;
  for (int turn = 0; turn <= turns; ++turn) {
    const double seconds = make();
    if (turn == 0) t.first = seconds;
    else later.push_back(seconds);
  }
  t.later = median(later);
  return t;
}

double product_seconds(const matrix<double>& a) {
  const gpu_array<double> x(a.shape().cols, 1.0);
  gpu_array<double> y(a.shape().rows);
  const auto many = [&](int n) {
    wait_for_gpu();
    const double began = now();
    for (int k = 0; k < n; ++k) a.apply(1.0, as_cview(x), 0.0, as_view(y));
    wait_for_gpu();
    return now() - began;
  };
  many(20);
  std::vector<double> each;
  for (int turn = 0; turn < turns; ++turn) each.push_back((many(products) - many(products / 10)) / (0.9 * products));
  return median(each);
}

json parts_of(const coo<double>& a, const matrix_options& o) {
  json parts = json::object();
  double began = now();
  const auto end = [&](const char* what) {
    wait_for_gpu();
    parts[what] = now() - began;
    began = now();
  };
  matrix_source<double> source(coo<double>(a), o.where);
  end("upload");
  if (source.has_rows()) source.look();
  end("look");
  const stats s = source.measure();
  end("measure");
  const choice c = choose(s, precision::f64, o.where, {o.format, o.kernel, o.expected_products});
  end("choose");
  const auto op = source.store(c, s);
  end("convert");
  return parts;
}

json measure_one(const std::string& name) {
  const coo<double> a = load(name).a;
  matrix_options o;
  o.where = parse_device("gpu");
  const times from_triplets = in_turns([&] {
    coo<double> own(a);
    const double began = now();
    const matrix<double> made(std::move(own), o);
    wait_for_gpu();
    return now() - began;
  });
  host_array<std::int32_t> row_ptr(a.shape.rows + 1, 0);
  for (index_t k = 0; k < a.nnz(); ++k) ++row_ptr[a.row[k] + 1];
  for (index_t r = 0; r < a.shape.rows; ++r) row_ptr[r + 1] += row_ptr[r];
  const gpu_array<std::int32_t> row_ptr_there(row_ptr);
  const gpu_array<std::int32_t> col_there(a.col);
  const gpu_array<double> val_there(a.val);
  const csr_arrays<double, std::int32_t> rows{a.shape, as_cview(row_ptr_there), as_cview(col_there),
                                              as_cview(val_there), o.where};
  const times from_rows = in_turns([&] {
    const double began = now();
    const matrix<double> made(rows, o);
    wait_for_gpu();
    return now() - began;
  });
  const matrix<double> made(rows, o);
  const double product = product_seconds(made);
  const json parts = parts_of(a, o);
  std::string each;
  for (const auto& [what, seconds] : parts.items())
    each += fmt::format(" {} {:.2f}", what, 1e3 * seconds.get<double>());
  fmt::print(
      "{:<18} {:<10} product {:8.2f} us | from triplets {:8.2f} ms ({:5.0f} products), first {:8.2f} | from rows "
      "{:8.2f} ms ({:5.0f}), first {:8.2f} | ms:{}\n",
      name.substr(name.find_last_of('/') + 1), made.chosen().format->name, 1e6 * product, 1e3 * from_triplets.later,
      from_triplets.later / product, 1e3 * from_triplets.first, 1e3 * from_rows.later, from_rows.later / product,
      1e3 * from_rows.first, each);
  std::fflush(stdout);
  const auto as_json = [](const times& t) { return json{{"first", t.first}, {"median", t.later}}; };
  return {{"matrix", name.substr(name.find_last_of('/') + 1)},
          {"rows", a.shape.rows},
          {"entries", a.nnz()},
          {"format", made.chosen().format->name},
          {"kernel", made.chosen().kernel},
          {"product_seconds", product},
          {"from_triplets", as_json(from_triplets)},
          {"from_rows", as_json(from_rows)},
          {"parts_from_triplets", parts}};
}

/// All of them; their geometric means and the most, in products.
json measure_all(const std::vector<std::string>& names) {
  json results = json::array();
  struct {
    double logs = 0, most = 0;
  } triplets, rows;
  for (const auto& name : names) {
    const json one = measure_one(name);
    const auto add = [&](auto& to, const char* way) {
      const double products = one[way]["median"].get<double>() / one["product_seconds"].get<double>();
      to.logs += std::log(products) / double(names.size());
      to.most = std::max(to.most, products);
    };
    add(triplets, "from_triplets"), add(rows, "from_rows");
    results.push_back(one);
  }
  fmt::print(
      "in products, geometric mean (most): from triplets {:.0f} ({:.0f}), from rows on the GPU {:.0f} ({:.0f})\n",
      std::exp(triplets.logs), triplets.most, std::exp(rows.logs), rows.most);
  return results;
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    const auto [file, names] =
        bench::read_request(argc, argv,
                            {"poisson3d:200", "elasticity3d:40", "stencil3d27:128", "banded:1000000:12:1000",
                             "random:1000000:16", "powerlaw:1000000:8:2.2"});
    select_device(parse_device("gpu"));
    const json all{{"device", describe(parse_device("gpu"))}, {"results", bench::measure_all(names)}};
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gpu_setup: {}\n", e.what());
    return 1;
  }
}
