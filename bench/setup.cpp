// SPDX-License-Identifier: BSD-3-Clause
// setup: what the way from a matrix to the format that `auto` takes costs, in products of that format.
//   setup cpu|gpu [--json FILE] [SPEC_OR_FILE...]
// From triplets in host memory, and from compressed rows that lie where the products run. The first time, in which
// kernels of a GPU are loaded, and the median of those after it. The parts are medians of three turns, each part waited
// for.
#include "measure.hpp"
#include "request.hpp"

#include "matrix/source.hpp"

#include <furrow/furrow.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

using nlohmann::json;
namespace furrow::bench {
namespace {

constexpr int turns = 7, part_turns = 3, products = 200;

/// Waits for all that was enqueued on the device of such arrays.
template <template <class> class Array> void wait() {
  const Array<double> one(1, 0.0);
  const host_array<double> home(one); // a copy to the host is waited for
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

template <template <class> class Array> double product_seconds(const matrix<double>& a) {
  const Array<double> x(a.shape().cols, 1.0);
  Array<double> y(a.shape().rows);
  const auto many = [&](int n) {
    wait<Array>();
    const double began = now();
    for (int k = 0; k < n; ++k) a.apply(1.0, as_cview(x), 0.0, as_view(y));
    wait<Array>();
    return now() - began;
  };
  many(20);
  std::vector<double> each;
  for (int turn = 0; turn < turns; ++turn) each.push_back((many(products) - many(products / 10)) / (0.9 * products));
  return median(each);
}

/// Medians of the parts of a set-up, each waited for. make(): the source of a matrix.
template <template <class> class Array, class Make> json parts_of(const Make& make, const matrix_options& o) {
  std::map<std::string, std::vector<double>> parts;
  for (int turn = 0; turn <= part_turns; ++turn) {
    double began = now();
    const auto end = [&](const char* what) {
      wait<Array>();
      if (turn > 0) parts[what].push_back(now() - began);
      began = now();
    };
    matrix_source<double> source = make(began);
    end("upload");
    if (source.has_rows()) source.look();
    end("look");
    const stats s = source.measure();
    end("measure");
    const choice c = choose(s, precision::f64, o.where, {o.format, o.kernel, o.expected_products});
    end("choose");
    const auto op = source.store(c, s);
    end("convert");
  }
  json medians = json::object();
  for (auto& [what, seconds] : parts) medians[what] = median(seconds);
  return medians;
}

/// In milliseconds.
std::string text_of(const json& parts) {
  std::string each;
  for (const auto& [what, seconds] : parts.items())
    each += fmt::format(" {} {:.3f}", what, 1e3 * seconds.template get<double>());
  return each;
}

template <template <class> class Array> json measure_one(const std::string& name, device where) {
  const coo<double> a = load(name).a;
  matrix_options o;
  o.where = where;
  const times from_triplets = in_turns([&] {
    coo<double> own(a);
    const double began = now();
    const matrix<double> made(std::move(own), o);
    wait<Array>();
    return now() - began;
  });
  host_array<std::int32_t> row_ptr(a.shape.rows + 1, 0);
  for (index_t k = 0; k < a.nnz(); ++k) ++row_ptr[a.row[k] + 1];
  for (index_t r = 0; r < a.shape.rows; ++r) row_ptr[r + 1] += row_ptr[r];
  const Array<std::int32_t> row_ptr_there(row_ptr);
  const Array<std::int32_t> col_there(a.col);
  const Array<double> val_there(a.val);
  const csr_arrays<double, std::int32_t> rows{a.shape, as_cview(row_ptr_there), as_cview(col_there),
                                              as_cview(val_there), o.where};
  const times from_rows = in_turns([&] {
    const double began = now();
    const matrix<double> made(rows, o);
    wait<Array>();
    return now() - began;
  });
  const matrix<double> made(rows, o);
  const double product = product_seconds<Array>(made);
  const json parts = parts_of<Array>(
      [&](double& began) {
        coo<double> own(a);
        began = now();
        return matrix_source<double>::to_be_measured(std::move(own), o.where);
      },
      o);
  const json parts_of_rows =
      parts_of<Array>([&](double&) { return matrix_source<double>(rows, o.where, lent_rows::borrowed); }, o);
  fmt::print(
      "{:<18} {:<10} product {:8.2f} us | from triplets {:8.2f} ms ({:5.0f} products), first {:8.2f} | from rows "
      "{:8.3f} ms ({:5.0f}), first {:8.2f} | ms:{} | from rows:{}\n",
      name.substr(name.find_last_of('/') + 1), made.chosen().format->name, 1e6 * product, 1e3 * from_triplets.later,
      from_triplets.later / product, 1e3 * from_triplets.first, 1e3 * from_rows.later, from_rows.later / product,
      1e3 * from_rows.first, text_of(parts), text_of(parts_of_rows));
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
          {"parts_from_triplets", parts},
          {"parts_from_rows", parts_of_rows}};
}

/// All of them; their geometric means and the most, in products.
json measure_all(const std::vector<std::string>& names, device where) {
  json results = json::array();
  struct {
    double logs = 0, most = 0;
  } triplets, rows;
  for (const auto& name : names) {
    const json one = where.is_gpu() ? measure_one<gpu_array>(name, where) : measure_one<host_array>(name, where);
    const auto add = [&](auto& to, const char* way) {
      const double products = one[way]["median"].get<double>() / one["product_seconds"].get<double>();
      to.logs += std::log(products) / double(names.size());
      to.most = std::max(to.most, products);
    };
    add(triplets, "from_triplets"), add(rows, "from_rows");
    results.push_back(one);
  }
  fmt::print("in products, geometric mean (most): from triplets {:.0f} ({:.0f}), from rows {:.0f} ({:.0f})\n",
             std::exp(triplets.logs), triplets.most, std::exp(rows.logs), rows.most);
  return results;
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    if (argc < 2) throw error(fault::usage, "which device? setup cpu|gpu [--json FILE] [SPEC_OR_FILE...]");
    const device where = parse_device(argv[1]);
    const auto [file, names] =
        bench::read_request(argc - 1, argv + 1,
                            {"poisson3d:200", "elasticity3d:40", "stencil3d27:128", "banded:1000000:12:1000",
                             "random:1000000:16", "powerlaw:1000000:8:2.2"});
    select_device(where);
    const json all{{"device", describe(where)}, {"results", bench::measure_all(names, where)}};
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "setup: {}\n", e.what());
    return 1;
  }
}
