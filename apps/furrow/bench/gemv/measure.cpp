// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"
#include "lies_in.hpp"
#include "text.hpp"

#include "backends/cpu/parallel.hpp"
#include "generate/randomness.hpp"
#include "rivals/dense.hpp"

#include <furrow/array.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace furrow::cli::gemv_bench {
namespace {

template <class T> host_array<T> random_elements(index_t n) {
  host_array<T> a(n);
  const randomness random(1);
  cpu::for_each_range(n, 1 << 14, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) a[k] = T(static_cast<vector_value<T>>(2 * unit(random.at(k)) - 1));
  });
  return a;
}

template <class T> double bytes_of(shape2 s) {
  return double(sizeof(T)) * double(s.rows) * double(s.cols) +
         double(sizeof(vector_value<T>)) * double(s.rows + s.cols);
}

/// All shapes of one type. They are the first elements of one matrix, as long as the largest of them.
template <class T, template <class> class Array> class session {
  using V = vector_value<T>;

public:
  session(const plan& p, const std::vector<shape2>& shapes) : plan_(p) {
    index_t elements = 0, longest = 0;
    for (const auto& s : shapes) {
      elements = std::max(elements, s.rows * s.cols);
      longest = std::max({longest, s.rows, s.cols});
    }
    a_ = Array<T>(random_elements<T>(elements));
    const auto narrow = random_elements<T>(longest);
    host_array<V> x(longest);
    for (index_t k = 0; k < longest; ++k) x[k] = V(narrow[k]);
    narrow_x_ = Array<T>(narrow);
    x_ = Array<V>(x);
    y_ = Array<V>(longest);
  }

  product run(shape2 s, const std::string& layout, const std::string& operation, const char* type) {
    const bool by_rows = layout == "row", transposed = operation == "t";
    product found{s, type, layout, operation, by_rows == transposed ? "across" : "along", bytes_of<T>(s),
                  0, {},   {},     {}};
    const index_t terms = transposed ? s.rows : s.cols, outputs = transposed ? s.cols : s.rows;
    gemv_options options;
    options.transposed = transposed;
    options.where = plan_.where;
    const dense_view<T> matrix{a_.data(), s, by_rows ? s.cols : s.rows,
                               by_rows ? storage_order::row_major : storage_order::col_major};
    const auto ours = [&] { gemv<T>(1, matrix, {x_.data(), terms}, 0, {y_.data(), outputs}, options); };
    std::vector<std::function<void()>> rivals;
    for (const auto& library : bench::dense_libraries()) {
      if (!plan_.rivals || library.where != plan_.where.what || !library.present()) continue;
      const auto multiply = library.dense->template of<T>();
      if (!multiply || std::max(s.rows, s.cols) > std::numeric_limits<int>::max()) continue;
      // A row-major matrix is a column-major one, transposed.
      const shape2 as = by_rows ? shape2{s.cols, s.rows} : s;
      rivals.push_back(
          [=, this] { multiply(transposed != by_rows, as.rows, as.cols, a_.data(), narrow_x_.data(), y_.data()); });
      found.rivals.push_back({std::string(library.name), {}, {}});
    }
    const auto measured = [&](const std::function<void()>& call, timing& fastest) {
      if (!plan_.where.is_gpu() && !rivals.empty()) let_threads_rest();
      const timing turn = time_steadily(call, plan_.where, plan_.how);
      keep_faster(fastest, turn);
      return turn.median;
    };
    for (int turn = 0; turn < plan_.turns; ++turn) {
      const double our_time = measured(ours, found.time);
      for (std::size_t k = 0; k < rivals.size(); ++k)
        found.rivals[k].ratios.push_back(measured(rivals[k], found.rivals[k].time) / our_time);
    }
    found.ceiling = plan_.ceiling(found.bytes);
    found.lies_in = plan_.cold ? "memory" : lies_in(plan_.where, found.bytes);
    return found;
  }

private:
  const plan& plan_;
  Array<T> a_, narrow_x_;
  Array<V> x_, y_;
};

template <class T, template <class> class Array>
void measure_type(const plan& p, const char* type, const std::function<void(const product&)>& done,
                  const std::function<void(const std::string&)>& skip) {
  // On the host, and there once more for a GPU.
  const double room = 0.8 * double(available_host_memory());
  std::vector<shape2> shapes;
  for (const auto& s : p.shapes)
    if (3 * bytes_of<T>(s) <= room) shapes.push_back(s);
    else skip(fmt::format("{}x{} {}: left out, it takes {}", s.rows, s.cols, type, bytes_text(3 * bytes_of<T>(s))));
  if (shapes.empty()) return;
  session<T, Array> all(p, shapes);
  for (const auto& s : shapes)
    for (const auto& layout : p.layouts)
      for (const auto& operation : p.operations) done(all.run(s, layout, operation, type));
}

template <template <class> class Array>
void measure_on(const plan& p, const std::function<void(const product&)>& done,
                const std::function<void(const std::string&)>& skip) {
  for (const auto& type : p.types)
    if (type == "f64") measure_type<double, Array>(p, "f64", done, skip);
    else if (type == "f32") measure_type<float, Array>(p, "f32", done, skip);
    else if (type == "f16") measure_type<half, Array>(p, "f16", done, skip);
    else measure_type<bfloat16, Array>(p, "bf16", done, skip);
}

} // namespace

double rival_time::ratio() const {
  std::vector<double> sorted = ratios;
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

void measure(const plan& p, const std::function<void(const product&)>& done,
             const std::function<void(const std::string&)>& skip) {
  if (p.where.is_gpu()) measure_on<gpu_array>(p, done, skip);
  else measure_on<host_array>(p, done, skip);
}

} // namespace furrow::cli::gemv_bench
