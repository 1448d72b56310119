// SPDX-License-Identifier: BSD-3-Clause
#include "played.hpp"
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "played_text.hpp"
#include "random_vector.hpp"
#include "sweep.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"
#include "core/single_precision.hpp"
#include "core/transpose.hpp"
#include "formats/played.hpp"
#include "tune/row_error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::cli {
namespace {

/// `kernels`: of a sweep, whose names the choices hold.
std::vector<play::played_choice> choices_of(const spmv_request& q, const std::vector<std::string>& kernels) {
  if (q.sweep) {
    std::vector<play::played_choice> swept;
    swept.reserve(kernels.size());
    for (const auto& kernel : kernels) swept.push_back(play::find_played(name_before_colon(q.format), kernel));
    return swept;
  }
  if (q.format != "all" && q.kernel != "all") return {play::find_played(name_before_colon(q.format), q.kernel)};
  std::vector<play::played_choice> all;
  const auto add = [&](const play::played_format& f) {
    for (const auto k : f.kernels)
      if (q.kernel == "all" || (q.kernel == "auto" && k == f.kernels.front())) all.push_back({&f, k});
      else if (kernel_name(q.kernel) == k) all.push_back(play::find_played(f.format, q.kernel));
  };
  if (q.format == "all")
    for (const auto* f : play::played_formats()) add(*f);
  else add(*play::find_played(name_before_colon(q.format), "auto").format);
  check(!all.empty(), fault::usage, "no format has a classic kernel '{}' to play", q.kernel);
  return all;
}

/// The format's own refusals: padding that would fill the memory.
template <class V> void check_layout(const play::played_choice& c, const std::string& parameters, const stats& s) {
  const layout l = find_format(c.format->format).lay_out(s, precision_of<V>, parameters);
  check(l.refusal.empty(), fault::input, "{}", l.refusal);
}

template <class V>
void play_all(const spmv_request& q, const std::vector<play::played_choice>& choices, const coo<V>& a, const stats& s,
              played_outcome& o) {
  const auto x = q.x.empty() ? random_vector<V>(a.shape.cols)
                             : read_vector_for<V>(q.x, "-x", a.shape.cols, q.transpose ? "row" : "column");
  check(std::ranges::all_of(x, [](V v) { return std::isfinite(v); }), fault::input,
        "{}: holds a NaN or an infinity: no reference to compare with", q.x);
  const auto alpha = static_cast<V>(q.alpha);
  check(std::isfinite(alpha), fault::usage, "--alpha: {} is too large for f32", q.alpha);
  check(q.alpha == 0 || static_cast<V>(q.alpha) != 0, fault::usage,
        "--alpha: {} is too small for f32, in which it is 0", q.alpha);
  const auto truth = reference_product<V>(a, as_cview(x), alpha);
  const auto colon = std::min(q.format.find(':'), q.format.size());
  const std::string parameters = q.format.substr(std::min(colon + 1, q.format.size()));
  for (const auto& c : choices) {
    check_layout<V>(c, parameters, s);
    host_array<V> y(a.shape.rows, std::numeric_limits<V>::quiet_NaN()); // what a kernel forgets to write shows
    played_result r{std::string(c.format->format), std::string(c.kernel), 0, {}};
    r.kernels = c.format->product<V>()({a, parameters, alpha, as_cview(x), V(0), as_view(y)}, c.kernel, o.how);
    r.row_error = largest_row_error<V>(truth, as_cview(y));
    if (o.results.empty() && !q.output.empty()) write_answer(y, q.output);
    o.results.push_back(std::move(r));
  }
}

/// What a played product has no use for.
void check_request(const spmv_request& q) {
  check(!q.tune, fault::usage, "--tune measures, and a kernel that is played has no speed: name it with --kernel");
  check_measuring_of_play(q.repeat, q.ceiling, q.check);
  check(std::isinf(q.expected_products), fault::usage,
        "--applies helps to choose, and a kernel that is played is named: leave --applies out");
  check(q.alpha != 0, fault::usage, "--alpha 0 multiplies nothing: there is nothing to play");
}

} // namespace

int run_played(const spmv_request& q) {
  check_request(q);
  played_outcome o;
  o.how = parse_play(q.play, q.trace);
  std::vector<std::string> swept;
  if (q.sweep) swept = kernels_of_sweep(name_before_colon(q.format), q.kernel, o.how.wave);
  const auto choices = choices_of(q, swept);
  const matrix_input input(q.file);
  constexpr index_t most_of_one = 20'000'000; // entries: a minute or two, and a few gigabytes
  const index_t most = q.sweep ? most_of_one / static_cast<index_t>(choices.size()) : most_of_one;
  const index_t entries = expected_stats(input.header()).nnz;
  check(entries <= most, fault::usage, "{}: has {} entries, and {} for up to {}: play a smaller matrix of its kind",
        q.file, count_text(entries), q.sweep ? "kernels of a sweep are played" : "a kernel is played",
        count_text(most));
  problem p = input.load();
  o.name = p.name;
  o.shape = p.a.shape;
  if (q.transpose) {
    if (q.machine.values() == precision::f32)
      values_in_single_precision(p.a); // what does not fit is named by its place in the file
    p.a = transposed(p.a);
  }
  const stats s = measure(p.a);
  check(s.finite, fault::input, "{}: holds a NaN or an infinity: no reference to compare with", q.file);
  o.nnz = s.nnz;
  if (q.machine.values() == precision::f64) {
    play_all<double>(q, choices, p.a, s, o);
  } else {
    play_all<float>(q, choices, convert_values<float>(std::move(p.a)), s, o);
  }
  draw_trace(q.trace, o.name, o.results);
  if (q.json) print(json_of(q, o));
  else print_beside({q.output, q.trace}, text_of(q, o));
  check_results(o.results);
  return done;
}

} // namespace furrow::cli
