// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "played_text.hpp"
#include "product_command.hpp"
#include "series_file.hpp"
#include "text.hpp"

#include "chebyshev/classic.hpp"
#include "chebyshev/overflow.hpp"
#include "chebyshev/played.hpp"
#include "core/check.hpp"
#include "core/counted.hpp"
#include "core/kernel_numbers.hpp"
#include "picture/lanes.hpp"

#include <furrow/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::cli::cheb_command {
namespace {

using namespace chebyshev;

struct multiply_request {
  std::string left, right, output, on;
  std::string play, trace;
  std::string series = "plain", how = "auto", wanted;
  index_t keep = 0;
  machine_options machine;
  bool json = false;
};

template <class T> T named(std::string_view kind, const std::string& name, std::initializer_list<T> all) {
  std::vector<std::string> names;
  for (const T one : all) names.emplace_back(name_of(one));
  check_name(kind, name, names);
  for (const T one : all)
    if (name_of(one) == name) return one;
  throw error(fault::internal, "a name was checked, but not found");
}

product_options options_of(const multiply_request& q, device where) {
  product_options o;
  o.series = named("convention", q.series, {convention::plain, convention::primed});
  const std::string name = name_before_colon(q.how);
  o.how = named("algorithm", name,
                {algorithm::automatic, algorithm::direct, algorithm::fft, algorithm::thread, algorithm::block,
                 algorithm::block_sweep, algorithm::warp});
  o.block = read_kernel_numbers(q.how, {false, is_classic(o.how)}, lanes_of_a_warp).block;
  if (!q.wanted.empty()) o.wanted = named("accuracy", q.wanted, {accuracy::componentwise, accuracy::normwise});
  check(
      q.wanted != "componentwise" || o.how != algorithm::fft, fault::usage,
      "--accuracy componentwise: the FFT is accurate beside the largest coefficient alone: leave --algorithm fft out, "
      "or say --accuracy normwise");
  if (q.keep > 0) o.keep = q.keep;
  o.where = where;
  return o;
}

template <class V> host_array<V> coefficients_of(const series_file& file) {
  host_array<V> a(file.coefficients.size());
  for (index_t k = 0; k < a.size(); ++k) {
    a[k] = static_cast<V>(file.coefficients[k]);
    check(std::isfinite(a[k]), fault::input,
          "{}: coefficient {} is {}: only numbers that are finite in {} make a series", file.name, k,
          file.coefficients[k], !is_wide<V> ? "f32" : "f64");
  }
  return a;
}

/// The interval of a product: nothing where neither factor has one.
std::optional<interval> common_interval(const series_file& a, const series_file& b) {
  const interval x = a.interval(), y = b.interval();
  const auto says = [](const series_file& f) { return f.on ? "lives" : "says no interval, so it lives"; };
  check(x == y, fault::usage,
        "{} {} on [{}, {}], {} {} on [{}, {}]: only series on one interval have a product; --on LO,HI says that of a "
        "file without one",
        a.name, says(a), x.low, x.high, b.name, says(b), y.low, y.high);
  return a.on ? a.on : b.on;
}

/// A product that holds an infinity is no series.
template <class V> void check_range(cview<V> c) {
  const auto beyond = [](V v) { return !std::isfinite(v); };
  const auto count = std::count_if(c.begin(), c.end(), beyond);
  check(count == 0, fault::input,
        "{} of the {} coefficients of the product lie beyond the range of {}, the first of "
        "them is coefficient {}: scale the factors",
        count, c.size, !is_wide<V> ? "f32" : "f64", std::find_if(c.begin(), c.end(), beyond) - c.begin());
}

/// By a classic kernel without a GPU: what it reads in place of a time. The coefficients go to -o and into JSON.
template <class V>
int run_played(const multiply_request& q, cview<V> a, cview<V> b, const std::optional<interval>& on) {
  const product_options o = options_of(q, {});
  const algorithm how = o.how == algorithm::automatic ? algorithm::warp : o.how;
  const play::settings settings = parse_play(q.play, q.trace);
  host_array<V> c(o.keep.value_or(a.size + b.size - 1), std::numeric_limits<V>::quiet_NaN());
  const play::kernel_report report = play_product(a, b, o.series, how, as_view(c), settings, o.block);
  mend_overflow(a, b, o.series, as_view(c));
  check_range(as_cview(c));
  product_options sums = o;
  sums.how = algorithm::direct;
  sums.block = 0;
  const double bound = error_bound<V>(a, b, sums, algorithm::direct);
  const host_array<V> other = multiply(a, b, sums);
  for (index_t k = 0; k < c.size(); ++k)
    check(std::fabs(double(c[k]) - double(other[k])) <= 2 * bound, fault::internal,
          "{}: coefficient {} is {}, and {} by the sums of the CPU", name_of(how), k, c[k], other[k]);
  if (!q.output.empty()) write_text(series_text(as_cview(c), on), q.output);
  if (!q.trace.empty())
    write_file(q.trace, picture::lanes(report, fmt::format("{} by {}: {} of a product", a.size, b.size, name_of(how))));
  if (q.json) {
    cli::json j{{"coefficients", cli::json::array()}};
    for (const V v : c) j["coefficients"].push_back(v);
    if (on) j["interval"] = {on->low, on->high};
    j["convention"] = name_of(o.series);
    j["algorithm"] = name_of(how);
    j["precision"] = q.machine.precision_name;
    j["device"] = "play";
    add_settings(j, settings);
    j["error_bound"] = number(bound);
    j["kernel"] = cli::json_of(report);
    print(json_text(j, 2));
  } else {
    std::string text =
        fmt::format("{} by {}, {}, {}\nplayed on the CPU, {}, {}; no coefficient is off by more than {:.1e}\n\n",
                    a.size, counted(b.size, "coefficient"), name_of(o.series), name_of(how), q.machine.precision_name,
                    order_text(settings), bound);
    text += table_of(report);
    if (!q.trace.empty()) text += "\n" + line("picture", place_text(q.trace));
    print_beside({q.output, q.trace}, text);
  }
  if (!report.faults.empty()) throw error(fault::internal, report.faults.front());
  return done;
}

template <class V> int run_in(const multiply_request& q) {
  check_one_standard_input({q.left, q.right});
  check_one_standard_output(q.json, {q.output, q.trace});
  check_output(q.output, "-o", {q.left, q.right});
  check_ending(q.output, "-o", "a series", {".txt", ".csv"});
  check_output(q.trace, "--trace", {q.left, q.right, q.output});
  check_ending(q.trace, "--trace", "a picture", {".svg"});
  const bool played = q.machine.where == "play";
  check(!played || q.wanted != "normwise", fault::usage,
        "--device play plays classic kernels, which are accurate componentwise: leave --accuracy normwise out");
  if (played) check_threads_of_play(q.machine.thread_count);
  else check_not_played(q.play, q.trace);
  machine_options machine = q.machine;
  if (played) machine.where = "cpu";
  const device where = machine.apply();
  const product_options o = options_of(q, where);
  const series_file left = read_series_file(q.left, q.on), right = read_series_file(q.right, q.on);
  const std::optional<interval> on = common_interval(left, right);
  const auto a = coefficients_of<V>(left), b = coefficients_of<V>(right);
  if (played) return run_played<V>(q, as_cview(a), as_cview(b), on);
  product_plan<V> plan(a.size(), b.size(), 1, o);
  host_array<V> c(plan.size());
  double seconds = 0;
  const auto time = [&]<class Array>(const Array& x, const Array& y, Array& z) {
    seconds = median_seconds([&] { plan.multiply({x.data()}, {y.data()}, {z.data()}); }, where, 0.1);
  };
  if (where.is_gpu()) {
    gpu_array<V> there(c.size());
    time(gpu_array<V>(a), gpu_array<V>(b), there);
    c = host_array<V>(there);
    mend_overflow(as_cview(a), as_cview(b), o.series, as_view(c));
  } else {
    time(a, b, c);
  }
  check_range(as_cview(c));
  const double bound = error_bound<V>(as_cview(a), as_cview(b), o, plan.how());
  if (!q.output.empty()) write_text(series_text(as_cview(c), on), q.output);
  if (q.json) {
    cli::json j;
    j["coefficients"] = cli::json::array();
    for (const V v : c) j["coefficients"].push_back(v);
    if (on) j["interval"] = {on->low, on->high};
    j["convention"] = name_of(o.series);
    j["algorithm"] = name_of(plan.how());
    j["precision"] = q.machine.precision_name;
    j["device"] = describe(where);
    j["seconds"] = seconds;
    j["error_bound"] = number(bound);
    print(json_text(j, 2));
    return done;
  }
  if (q.output.empty()) print(series_text(as_cview(c), on));
  remark(fmt::format("{} by {}, {}, by {} on {} in {}; no coefficient is off by more than {:.1e}", a.size(),
                     counted(b.size(), "coefficient"), name_of(o.series), name_of(plan.how()), describe(where),
                     seconds_text(seconds), bound));
  return done;
}

} // namespace

std::function<int()> add_multiply(CLI::App& app, context& shared) {
  auto q = std::make_shared<multiply_request>();
  const auto file = [&](const char* name, std::string& to) {
    shared.words[app.add_option(name, to, "a series: one coefficient a line, lowest degree first")
                     ->required()
                     ->type_name("")] = {"<file>"};
  };
  const auto choice = [&](const char* name, std::string& to, const char* about, std::vector<std::string> words) {
    shared.words[app.add_option(name, to, about)->type_name("NAME")] = std::move(words);
  };
  file("A", q->left);
  file("B", q->right);
  shared.words[app.add_option("-o,--output", q->output, "the file to write")->type_name("FILE")] = {"<file>"};
  choice("--convention", q->series, "plain: sum a_k T_k; primed: a_0/2 + sum a_k T_k (default plain)",
         {"plain", "primed"});
  app.add_option("--keep", q->keep, "coefficients wanted (default: all)")->type_name("N")->transform(whole(1));
  choice("--algorithm", q->how,
         "auto, direct, fft; on a GPU, or played, thread, block, block_sweep, warp, each [:block=B] (default auto)",
         {"auto", "direct", "fft", "thread", "block", "block_sweep", "warp"});
  choice("--accuracy", q->wanted, "componentwise: small coefficients keep their digits; normwise: allows the FFT",
         {"componentwise", "normwise"});
  add_interval_of_file(app, q->on);
  add_json(app, q->json);
  q->machine.add(app, shared);
  q->machine.more_places = {"play"};
  add_played(app, shared, q->play, q->trace);
  app.footer(
      "Without -o the coefficients go to stdout, one a line; of a product that is played, what its kernel reads.\n\n"
      "Examples:\n"
      "  furrow cheb multiply a.txt b.txt\n"
      "  furrow cheb multiply a.txt b.txt --accuracy normwise --keep 1000 -o c.txt\n"
      "  furrow cheb multiply a.txt b.txt --device play --algorithm block_sweep:block=64");
  return [q] { return q->machine.precision_name == "f32" ? run_in<float>(*q) : run_in<double>(*q); };
}

} // namespace furrow::cli::cheb_command
