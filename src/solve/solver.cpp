// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/solver.hpp>
#include <furrow/value.hpp>

#include "arranging.hpp"
#include "coordinates.hpp"
#include "ladder.hpp"
#include "memory.hpp"
#include "run.hpp"
#include "setup_clock.hpp"
#include "transposed.hpp"

#include "backends/cpu/all_finite.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/turn.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/memory_place.hpp"
#include "core/parameters.hpp"
#include "core/single_precision.hpp"
#include "core/symmetry.hpp"
#include "matrix/source.hpp"
#include "preconditioners/lu/factor_size.hpp"
#include "preconditioners/new_values.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/matrix.hpp>
#include <furrow/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace furrow {
namespace {

/// `method` null: "auto".
void check_shape(shape2 a, const solver_entry* method) {
  check(a.rows == a.cols || !method || method->needs.transposed, fault::input,
        "the matrix is {} x {}: {} solves square systems only, lsmr takes any shape", a.rows, a.cols,
        method ? method->name : "");
}

template <class V> void check_vectors_of(shape2 a, cview<V> b, view<V> x) {
  check(b.size == a.rows, fault::usage, "the right-hand side has {} elements for a matrix of {} rows", b.size, a.rows);
  check(x.size == a.cols, fault::usage, "x has {} elements for a matrix of {} columns", x.size, a.cols);
  check((b.data || b.empty()) && (x.data || x.empty()), fault::usage, "x or b points nowhere, but has {} elements",
        std::max(b.size, x.size));
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
}

template <class V> void check_columns_of(shape2 a, cview<V> b, view<V> x, index_t columns) {
  check(columns >= 1, fault::usage, "{} right-hand sides: give at least one", columns);
  check(b.size == a.rows * columns, fault::usage,
        "{} right-hand sides have {} elements for a matrix of {} rows: give one for each row and column", columns,
        b.size, a.rows);
  check(x.size == a.cols * columns, fault::usage,
        "{} answers have {} elements for a matrix of {} columns: give one for each", columns, x.size, a.cols);
  check((b.data || b.empty()) && (x.data || x.empty()), fault::usage, "x or b points nowhere, but has {} elements",
        std::max(b.size, x.size));
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
}

template <class V> bool is_zero(cview<V> b) {
  return std::ranges::all_of(b, [](V v) { return v == V(0); });
}

/// Whether a diagonal speaks for solving -A x = -b: no entry is positive and some are negative.
template <class V> bool has_negative_diagonal(const matrix_source<V>& source) {
  if (source.has_rows()) {
    const rows_look& l = source.look();
    return l.negative_diagonal > 0 && l.negative_diagonal + l.zero_diagonal == source.shape().rows;
  }
  const coo<V>& a = source.triplets();
  std::atomic<bool> negative = false, positive = false;
  cpu::for_each_range(a.nnz(), 1 << 16, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      if (a.row[k] != a.col[k]) continue;
      if (a.val[k] < 0) negative = true;
      if (a.val[k] > 0) positive = true;
    }
  });
  return negative && !positive;
}

/// Whether a sentence says which row or column is to blame.
bool names_rows(const std::string& message) {
  return std::ranges::any_of(std::array{"row ", "column ", "diagonal entry ", "pivot "},
                             [&](const char* word) { return message.find(word) != std::string::npos; });
}

/// M = I for operators that come without one.
template <class V> struct no_preconditioner final : any_preconditioner<V> {
  void apply(cview<V>, view<V>) const override { require(false, "the identity is never applied"); }
  typename any_preconditioner<V>::kind what() const override { return any_preconditioner<V>::kind::identity; }
  double stored_bytes() const override { return 0; }
};

} // namespace

void check_options(const solve_options& o) {
  check(o.rtol >= 0 && o.atol >= 0 && std::isfinite(o.rtol) && std::isfinite(o.atol), fault::usage,
        "rtol = {} and atol = {} must be finite and not negative", o.rtol, o.atol);
  check(o.rtol < 1, fault::usage, "rtol = {} must be below 1: x = 0 has a relative residual of 1", o.rtol);
  check(o.rtol > 0 || o.atol > 0, fault::usage, "rtol and atol are both 0: no computed answer is that good");
  check(o.max_iterations >= 0 && o.outlook >= 0, fault::usage, "max_iterations and outlook must not be negative");
  check(o.monitor_every >= 1, fault::usage, "monitor_every = {} must be at least 1", o.monitor_every);
  check(o.watch_every >= 0, fault::usage, "watch_every = {} must not be negative", o.watch_every);
  check(o.monitor_seconds >= 0, fault::usage, "monitor_seconds = {} must not be negative", o.monitor_seconds);
  check_coordinates(o);
}

/// What a solver keeps: its operator and preconditioner, or why there is none.
template <class V> struct solver<V>::state {
  solve_options given; ///< as they came, for a set-up for other values
  solve_options options;
  const solver_entry* method = nullptr;
  std::string_view parameters; ///< of the method
  shape2 shape;
  std::string format, kernel, reason;
  std::shared_ptr<const any_operator<V>> own_a;
  std::unique_ptr<any_preconditioner<V>> own_m;
  std::unique_ptr<any_preconditioner<V>> before; ///< M for other values of A, until this one's is made
  std::unique_ptr<solver_keeps> kept;            ///< by the method's own set-up
  std::unique_ptr<any_operator<V>> own_transposed;
  const any_operator<V>*a = nullptr, *transposed = nullptr; ///< A' where the method needs it
  const any_preconditioner<V>* m = nullptr;
  double norm_inf = 0, norm_2 = 0;
  index_t longest_row = 0;
  bool opposite = false;          ///< -A may be positive definite
  std::optional<refusal> refused; ///< why no solve can start
  coo<V> triplets;                ///< of a refused one: its residual is still known
  double setup_seconds = 0;
  setup_clock clock;                                  ///< of the set-up
  bool told = false;                                  ///< the set-up was reported
  std::unique_ptr<solver<float>> single;              ///< does the work where doubles are solved in single precision
  int exponent = 0;                                   ///< by which both sides are multiplied there
  system_moves moved;                                 ///< of `options.reorder` and matching
  std::shared_ptr<const diagonal_scales<V>> around_m; ///< of `options.scale`
  std::string arranged_about;

  std::unique_ptr<ladder<V>> climbing; ///< does it where no solver was named

  explicit state(const solve_options& o) : given(o), options(o) {
    check_options(o);
    notice_gpu_driver();
    if (options.solver != "auto") use(options.solver); // its parameters are views of it
    check_arranging(options, method);
  }
  void use(std::string_view solver) {
    method = &find_solver(solver);
    check(method->on_gpu || !options.where.is_gpu(), fault::device,
          "{} has no GPU part: cg takes one right-hand side after the other there, or solve on the CPU", method->name);
    check(method->on_cpu || options.where.is_gpu(), fault::device,
          "{} keeps the system on the chip of a GPU, and has no part for the CPU: take cg there", method->name);
    check(method->runner<V>() != nullptr, fault::usage,
          "{} works in single precision inside, and takes systems in double precision only", method->name);
    parameters = take_apart(solver).parameters;
    method->vectors(parameters); // throws for parameters that make no sense
  }

  template <class Given> void set_up(Given given, const matrix<V>* known = nullptr);
  void set_up(matrix_source<V> given, const matrix<V>* known);
  void set_up_arranged(coo<V> given);
  bool renew_preconditioner(const matrix_source<V>& given, const solver_needs& needs);
  void set_up_preconditioner(const matrix_source<V>& given, const stats& s, bool symmetric);
  void set_up_single(coo<V> given);
  solve_report ended(status why, std::string message) const;
  solve_report solve(cview<V> b, view<V> x, const solve_options& o);
  solve_report solve_on_gpu(cview<V> b, view<V> x, const solve_options& o);
  std::vector<solve_report> solve_moved(cview<V> b, view<V> x, index_t columns, bool on_gpu);
  std::vector<solve_report> solve_columns(cview<V> b, view<V> x, index_t columns) {
    return single ? run_single(b, x, columns) : climbing ? climbing->solve(b, x, columns) : run_columns(b, x, columns);
  }
  std::vector<solve_report> solve_columns_on_gpu(cview<V> b, view<V> x, index_t columns);
  linear_system<V> system(cview<V> b, view<V> x) const {
    return {*a, *m, b, x, norm_inf, norm_2, longest_row, parameters, transposed, kept.get()};
  }
  solve_report run(cview<V> b, view<V> x, const solve_options& o);
  solve_report described(solve_report report) const;
  std::vector<solve_report> run_columns(cview<V> b, view<V> x, index_t columns);
  void run_together(const std::vector<index_t>& numbers, cview<V> b, view<V> x, const solve_options& o,
                    std::vector<solve_report>& reports);
  std::vector<solve_report> run_single(cview<V> b, view<V> x, index_t columns);
  void narrow(cview<V> b, cview<V> x, view<float> narrow_b, view<float> narrow_x) const;
  /// With what the set-up has left of the limit on the time to the first solve; a ladder looks to that itself.
  solve_options with_time_left() const {
    solve_options o = options;
    if (!told && !climbing && !single) o.time_limit -= setup_seconds;
    return o;
  }
  void finish(solve_report& report);
};

/// From triplets or rows. `known`: a matrix that was looked at and is stored already.
template <class V> template <class Given> void solver<V>::state::set_up(Given given, const matrix<V>* known) {
  shape = given.shape;
  check_shape(shape, method);
  check_coordinates(options, shape);
  if constexpr (is_wide<V>)
    if (options.values == precision::f32) {
      if constexpr (std::is_same_v<Given, coo<V>>) return set_up_single(std::move(given));
      else return set_up_single(matrix_source<V>(given, given.where).take_triplets());
    }
  if (scales(options) || moves(options)) {
    check(shape.rows == shape.cols, fault::input,
          "the matrix is {} x {}: only square ones are scaled or reordered by name", shape.rows, shape.cols);
    if constexpr (std::is_same_v<Given, coo<V>>) return check_triplets(given), set_up_arranged(std::move(given));
    else return set_up_arranged(matrix_source<V>(given, given.where).take_triplets());
  }
  matrix_source<V> source(std::move(given), options.where);
  clock.end(source.has_rows() ? "upload" : "check");
  set_up(std::move(source), known);
}

/// From triplets that were checked. Whether A is symmetric is asked before it moves: entries are named by the caller's
/// numbers.
template <class V> void solver<V>::state::set_up_arranged(coo<V> given) {
  clock.end("check");
  if (method && method->needs.a.symmetric && !options.assume_symmetric) {
    check_symmetry(given);
    options.assume_symmetric = true;
    clock.end("symmetry");
  }
  if (cpu::all_finite(as_cview(given.val))) { // otherwise the look says so
    const double takes = bytes_to_arrange(options, shape.rows, given.nnz(), precision_of<V>),
                 there = double(available_host_memory());
    check(takes <= there, fault::memory,
          "scaling and ordering the matrix needs {:.3g} GB more memory, of which {:.3g} GB can be had", takes * 1e-9,
          there * 1e-9);
    try {
      arranged_system<V> done = arrange(given, options, method && method->needs.a.definite);
      given = std::move(done.a), moved = std::move(done.moves), around_m = std::move(done.scales);
      arranged_about = std::move(done.about);
    } catch (const refusal& r) {
      refused = r;
      triplets = std::move(given);
      return;
    }
    tell_in_order(options, moved);
    clock.end("arrange");
  }
  set_up(matrix_source<V>(std::move(given), options.where), nullptr);
}

template <class V> void solver<V>::state::set_up(matrix_source<V> given, const matrix<V>* known) {
  if (!method) {
    climbing = std::make_unique<ladder<V>>(std::move(given), options, clock, around_m);
    return;
  }
  options.precond = named_preconditioner(options);
  const solve_options& o = options;
  const auto cancelled = [&] {
    if (o.cancelled && o.cancelled()) refused = refusal{status::interrupted, "interrupted while it was set up"};
    return refused.has_value();
  };
  if (cancelled()) return;
  const stats s = known ? known->facts() : given.measure();
  clock.end("look");
  norm_inf = s.norm_inf;
  longest_row = s.row_max;
  const wish w = wish_of(o);
  choice c = known ? known->chosen() : choose(s, precision_of<V>, o.where, w);
  const auto describe = [&] { format = name_of(c), kernel = c.kernel, reason = c.reason; };
  describe();
  clock.end("choose");
  if (!s.finite) {
    refused = refusal{status::nan, "iteration 0: the matrix holds a NaN or an infinity"};
    return;
  }
  if (cancelled()) return;
  if (o.tune && !known) c = tune(given.triplets(), s, o.where, w), describe(), clock.end("tune");
  const memory_estimate needed = estimate_memory(c, s, precision_of<V>, o, given.bytes_on_gpu());
  check_memory(needed, s, precision_of<V>, o.where, given.bytes_on_gpu());
  if (o.announce) o.announce(needed);
  options.scale = options.reorder = "none"; // it is done: whoever solves inside has an arranged system
  if (method->needs.a.symmetric && !o.assume_symmetric) given.check_symmetry();
  clock.end("symmetry");
  if (cancelled()) return;
  norm_2 = method->needs.a.symmetric ? s.norm_inf : std::sqrt(s.norm_inf * largest_column_sum(given.triplets()));
  const stops_set_up stop([&, began = now()]() -> std::optional<refusal> {
    if (!cancelled() && now() - began > o.time_limit)
      refused = refusal{status::max_iterations, o.precond + " was not set up within the limit on the time"};
    return refused;
  });
  const bool symmetric = method->needs.transposed && given.is_symmetric();
  try {
    set_up_preconditioner(given, s, symmetric);
  } catch (const refusal& r) {
    refused = r;
    triplets = given.take_triplets();
    return;
  }
  clock.end("precond");
  if (cancelled()) return;
  if (method->needs.transposed && !symmetric) own_transposed = make_transposed(given.triplets(), o.where);
  if (cancelled()) return;
  opposite = own_m->what() == any_preconditioner<V>::kind::identity && has_negative_diagonal(given);
  if (known) own_a = known->op();
  else own_a = given.store(c, s);
  clock.end("convert");
  kernel = own_a->kernel();
  a = own_a.get();
  transposed = symmetric ? a : own_transposed.get();
  m = own_m.get();
}

/// From the one for other values, which is gone in any case, before another one takes memory.
template <class V>
bool solver<V>::state::renew_preconditioner(const matrix_source<V>& given, const solver_needs& needs) {
  auto last = std::move(before);
  if (last && around_m) {
    own_m = renew_scaled(std::move(last), given.triplets(), needs, around_m);
  } else if (auto* const kept_values = dynamic_cast<takes_new_values<V>*>(last.get())) {
    if (given.has_rows() ? kept_values->update_from_rows(given.rows(), needs)
                         : kept_values->update(given.triplets(), needs))
      own_m = std::move(last);
  }
  return own_m != nullptr;
}

/// And what the method makes beside it or in its place.
template <class V>
void solver<V>::state::set_up_preconditioner(const matrix_source<V>& given, const stats& s, bool symmetric) {
  if (!method->set_up.replaces_m()) {
    const solver_needs needs = with_coordinates(method->needs_for(symmetric), options);
    if (!renew_preconditioner(given, needs))
      own_m = around_m ? make_scaled_preconditioner(options.precond, given.triplets(), options.where, needs, around_m)
                       : make_preconditioner(options.precond, given, s, options.where, needs);
  } else {
    own_m = std::make_unique<no_preconditioner<V>>();
  }
  if (method->set_up) kept = method->set_up.template make<V>()(given.triplets(), parameters, options);
}

template <class V> void solver<V>::state::set_up_single(coo<V> given) {
  check_triplets(given);
  if constexpr (is_wide<V>) {
    exponent = exponent_for_single_precision(as_cview(given.val));
    check(exponent == 0 || !method || !method->needs.transposed || parameters.empty(), fault::usage,
          "in single precision this matrix is multiplied by 2^{}, which the damping of {} does not know: use f64",
          exponent, options.solver);
    solve_options o = options;
    o.atol = std::min(std::ldexp(o.atol, exponent), std::numeric_limits<double>::max());
    if (o.announce)
      o.announce = [announce = o.announce, rows = shape.rows, nnz = given.nnz()](memory_estimate e) {
        announce(beside_doubles(e, rows, nnz));
      };
    single = std::make_unique<solver<float>>(to_single_precision(std::move(given), exponent), o);
  }
}

template <class V> solve_report solver<V>::state::ended(status why, std::string message) const {
  solve_report report;
  report.why = why;
  report.message = std::move(message);
  report.relative_residual = std::numeric_limits<double>::quiet_NaN(); // not known
  return report;
}

template <class V> solve_report solver<V>::state::run(cview<V> b, view<V> x, const solve_options& o) {
  if (refused && (refused->why == status::nan || refused->why == status::interrupted))
    return ended(refused->why, refused->message);
  if (auto what = not_finite(b, "b"); !what.empty()) return ended(status::nan, what);
  if (auto what = not_finite(as_cview(x), "the first guess"); !what.empty()) return ended(status::nan, what);
  if (is_zero(b)) { // the exact answer, without a division by |b| = 0
    std::fill(x.begin(), x.end(), V(0));
    solve_report report = ended(status::converged, "b is zero, so x is zero");
    report.relative_residual = 0;
    report.history = report.history_seconds = {0};
    return report;
  }
  if (refused) {
    solve_report report = ended(refused->why, refused->message);
    report.relative_residual = residual_of_triplets(triplets, b, as_cview(x));
    return report;
  }
  return described(run_on_host_vectors<V>(*method, system(b, x), o));
}

/// With what is known of the operator and the preconditioner.
template <class V> solve_report solver<V>::state::described(solve_report report) const {
  if (report.why == status::not_positive_definite && opposite)
    report.message += "; its diagonal is negative: solve -A x = -b";
  report.precond_about = m->describe();
  report.levels = m->levels();
  const lu::factor_size factors = lu::factor_size_of(*m);
  report.factor_entries_expected = factors.expected, report.factor_bytes_expected = factors.expected_bytes;
  report.factor_entries = factors.entries, report.factor_bytes = factors.bytes;
  report.factors_at_most = factors.is_bound;
  report.product_bytes = a->bytes_per_apply();
  report.stored_bytes =
      a->stored_bytes() + m->stored_bytes() + (own_transposed ? own_transposed->stored_bytes() : 0) +
      double(sizeof(V)) * double(std::max(shape.rows, shape.cols)) * double(2 + method->vectors(parameters)) +
      (kept ? kept->stored_bytes() : 0);
  return report;
}

/// Those that a method takes at once go there; what is special is solved by itself.
template <class V> std::vector<solve_report> solver<V>::state::run_columns(cview<V> b, view<V> x, index_t columns) {
  std::vector<solve_report> reports(static_cast<std::size_t>(columns));
  std::vector<index_t> together;
  solve_options o = with_time_left();
  const double most = o.time_limit, began = now();
  for (index_t j = 0; j < columns; ++j) {
    const cview<V> one_b{b.data + j * shape.rows, shape.rows};
    const view<V> one_x = part(x, j * shape.cols, shape.cols);
    const bool plain = not_finite(one_b, "b").empty() && not_finite(as_cview(one_x), "x").empty() && !is_zero(one_b) &&
                       !needs_scale(one_b);
    if (plain && !refused && method->columns<V>() && !is_watched_closely(options) && !options.where.is_gpu())
      together.push_back(j);
    else reports[static_cast<std::size_t>(j)] = run(one_b, one_x, o);
    o.time_limit = most - (now() - began);
  }
  if (!together.empty()) run_together(together, b, x, o, reports);
  return reports;
}

template <class V>
void solver<V>::state::run_together(const std::vector<index_t>& numbers, cview<V> b, view<V> x, const solve_options& o,
                                    std::vector<solve_report>& reports) {
  const index_t n = shape.rows, count = static_cast<index_t>(numbers.size());
  const bool all = count * n == b.size;
  host_array<V> some_b(all ? 0 : count * n), some_x(all ? 0 : count * n);
  for (index_t k = 0; !all && k < count; ++k) {
    std::copy_n(b.data + numbers[k] * n, n, some_b.data() + k * n);
    std::copy_n(x.data + numbers[k] * n, n, some_x.data() + k * n);
  }
  const linear_system<V> systems{
      *a,         *m,        all ? b : as_cview(some_b), all ? x : as_view(some_x), norm_inf, norm_2, longest_row,
      parameters, transposed};
  std::vector<solve_report> ran = method->columns<V>()(systems, count, o);
  for (index_t k = 0; k < count; ++k) {
    if (!all) std::copy_n(some_x.data() + k * n, n, x.data + numbers[k] * n);
    reports[static_cast<std::size_t>(numbers[k])] = described(std::move(ran[static_cast<std::size_t>(k)]));
  }
}

/// One system in single precision.
template <class V>
void solver<V>::state::narrow(cview<V> b, cview<V> x, view<float> narrow_b, view<float> narrow_x) const {
  double size = 0;
  for (index_t i = 0; i < b.size; ++i) {
    narrow_b[i] = static_cast<float>(std::ldexp(double(b[i]), exponent));
    check(std::isfinite(narrow_b[i]) || !std::isfinite(b[i]), fault::input,
          "element {} of b = {} is too large for single precision: use f64", i + 1, double(b[i]));
    size = std::max(size, std::abs(double(b[i])));
  }
  check(!(size > 0) || !(std::ldexp(size, exponent) < double(std::numeric_limits<float>::min())), fault::input,
        "b has no element beyond {}, which is too small for single precision: use f64", size);
  for (index_t i = 0; i < x.size; ++i) {
    narrow_x[i] = static_cast<float>(x[i]);
    check(std::isfinite(narrow_x[i]) || !std::isfinite(x[i]), fault::input,
          "element {} of the first guess = {} is too large for single precision: use f64", i + 1, double(x[i]));
  }
}

template <class V> std::vector<solve_report> solver<V>::state::run_single(cview<V> b, view<V> x, index_t columns) {
  host_array<float> narrow_b(b.size), narrow_x(x.size);
  for (index_t j = 0; j < columns; ++j)
    narrow({b.data + j * shape.rows, shape.rows}, {x.data + j * shape.cols, shape.cols},
           part(as_view(narrow_b), j * shape.rows, shape.rows), part(as_view(narrow_x), j * shape.cols, shape.cols));
  auto reports = columns == 1 ? std::vector{single->solve(as_cview(narrow_b), as_view(narrow_x))}
                              : single->solve(as_cview(narrow_b), as_view(narrow_x), columns);
  std::copy(narrow_x.begin(), narrow_x.end(), x.begin());
  return reports;
}

template <class V> solve_report solver<V>::state::solve(cview<V> b, view<V> x, const solve_options& o) {
  return single ? std::move(run_single(b, x, 1).front()) : climbing ? climbing->solve(b, x) : run(b, x, o);
}

/// Where no method was named, where doubles are solved in single precision and where no solve can start, and for
/// vectors that are not plain, b and x go through host memory.
template <class V> solve_report solver<V>::state::solve_on_gpu(cview<V> b, view<V> x, const solve_options& o) {
  if (!single && !climbing && !refused)
    if (auto report = run_on_gpu_vectors<V>(*method, system(b, x), o)) return described(std::move(*report));
  host_array<V> home_b(b.size), home_x(x.size);
  copy_bytes(host_memory{}, home_b.data(), gpu_memory{}, b.data, home_b.byte_count());
  copy_bytes(host_memory{}, home_x.data(), gpu_memory{}, x.data, home_x.byte_count());
  solve_report report = solve(as_cview(home_b), as_view(home_x), o);
  copy_bytes(gpu_memory{}, x.data, host_memory{}, home_x.data(), home_x.byte_count());
  return report;
}

/// Right-hand sides of a system that was moved, one behind the other, in the caller's order and memory.
template <class V>
std::vector<solve_report> solver<V>::state::solve_moved(cview<V> b, view<V> x, index_t columns, bool on_gpu) {
  host_array<V> home_b(on_gpu ? b.size : 0), home_x(on_gpu ? x.size : 0), moved_b(b.size), moved_x(x.size);
  if (on_gpu) {
    copy_bytes(host_memory{}, home_b.data(), gpu_memory{}, b.data, home_b.byte_count());
    copy_bytes(host_memory{}, home_x.data(), gpu_memory{}, x.data, home_x.byte_count());
  }
  const cview<V> own_b = on_gpu ? as_cview(home_b) : b;
  const view<V> own_x = on_gpu ? as_view(home_x) : x;
  std::vector<std::string> wrong; // by the caller's numbers
  for (index_t j = 0; j < columns; ++j) {
    const cview<V> one_b{own_b.data + j * shape.rows, shape.rows}, one_x{own_x.data + j * shape.cols, shape.cols};
    wrong.push_back(not_finite(one_b, "b"));
    if (wrong.back().empty()) wrong.back() = not_finite(one_x, "the first guess");
    gather(one_b, moved.row, part(as_view(moved_b), j * shape.rows, shape.rows));
    gather(one_x, moved.column, part(as_view(moved_x), j * shape.cols, shape.cols));
  }
  auto reports = columns == 1 ? std::vector{solve(as_cview(moved_b), as_view(moved_x), with_time_left())}
                              : solve_columns(as_cview(moved_b), as_view(moved_x), columns);
  for (index_t j = 0; j < columns; ++j) {
    put_back({moved_x.data() + j * shape.cols, shape.cols}, moved.column, part(own_x, j * shape.cols, shape.cols));
    solve_report& report = reports[static_cast<std::size_t>(j)];
    if (report.why == status::nan && !wrong[static_cast<std::size_t>(j)].empty())
      report.message = wrong[static_cast<std::size_t>(j)];
    else if (report.why != status::nan && names_rows(report.message))
      report.message += "; rows and columns are numbered as they were moved";
  }
  if (on_gpu) copy_bytes(gpu_memory{}, x.data, host_memory{}, home_x.data(), home_x.byte_count());
  return reports;
}

/// One after another.
template <class V>
std::vector<solve_report> solver<V>::state::solve_columns_on_gpu(cview<V> b, view<V> x, index_t columns) {
  std::vector<solve_report> reports;
  solve_options o = with_time_left();
  const double most = o.time_limit, began = now();
  for (index_t j = 0; j < columns; ++j) {
    reports.push_back(solve_on_gpu({b.data + j * shape.rows, shape.rows}, part(x, j * shape.cols, shape.cols), o));
    o.time_limit = most - (now() - began);
  }
  return reports;
}

template <class V> template <class Given> void solver<V>::begin(Given&& a, const solve_options& o) {
  const double began = now();
  const turn mine(o.where);
  state_ = std::make_unique<state>(o);
  state_->set_up(std::forward<Given>(a));
  state_->setup_seconds = now() - began;
}

/// The new state takes over the preconditioner of the old one, which cannot solve from then on.
template <class V> template <class Given> void solver<V>::begin_again(Given&& a, const matrix<V>* known) {
  const double began = now();
  check(state_->format != "own", fault::usage,
        "the solver was made from operators of yours, which have their values themselves: make another one");
  check(a.shape == state_->shape, fault::usage,
        "the new values are those of a matrix of {} x {}, but the solver's is {} x {}", a.shape.rows, a.shape.cols,
        state_->shape.rows, state_->shape.cols);
  const turn mine(state_->given.where);
  auto next = std::make_unique<state>(state_->given);
  next->before = std::move(state_->own_m);
  state_->refused = refusal{status::interrupted, "the last update_values did not come to its end"};
  state_->single.reset(), state_->climbing.reset(), state_->kept.reset();
  state_->own_a.reset(), state_->own_transposed.reset();
  next->set_up(std::forward<Given>(a), known);
  next->setup_seconds = now() - began;
  state_ = std::move(next);
}
template <class V> void solver<V>::update_values(coo<V> a) { begin_again(std::move(a), nullptr); }
template <class V> void solver<V>::update_values(const csr_arrays<V, std::int32_t>& a) {
  begin_again(csr_arrays(a), nullptr);
}
template <class V> void solver<V>::update_values(const csr_arrays<V, std::int64_t>& a) {
  begin_again(csr_arrays(a), nullptr);
}
template <class V> void solver<V>::update_values(const matrix<V>& a) {
  check(a.where() == state_->given.where, fault::usage, "the matrix lives on {}, but the solver runs on {}",
        describe(a.where()), describe(state_->given.where));
  begin_again(a.to_triplets(), &a);
}

template <class V> solver<V>::solver(coo<V> a, const solve_options& o) { begin(std::move(a), o); }
template <class V> solver<V>::solver(const csr_arrays<V, std::int32_t>& a, const solve_options& o) {
  begin(csr_arrays(a), o);
}
template <class V> solver<V>::solver(const csr_arrays<V, std::int64_t>& a, const solve_options& o) {
  begin(csr_arrays(a), o);
}

template <class V> solver<V>::solver(const matrix<V>& a, const solve_options& o) {
  check(a.where() == o.where, fault::usage, "the matrix lives on {}, but the solver is to run on {}",
        describe(a.where()), describe(o.where));
  const double began = now();
  const turn mine(o.where);
  state_ = std::make_unique<state>(o);
  state_->set_up(a.to_triplets(), &a);
  state_->setup_seconds = now() - began;
}

template <class V>
solver<V>::solver(const any_operator<V>& a, const any_preconditioner<V>* m, const solve_options& o,
                  const operator_facts& facts, const any_operator<V>* transposed) {
  check(a.where() == o.where, fault::usage, "the operator lives on {}, but the solver is to run on {}",
        describe(a.where()), describe(o.where));
  refuse_arranging(o, "an operator of yours has no entries to scale or to move, and keeps");
  state_ = std::make_unique<state>(o);
  if (!state_->method) state_->use("cg");
  state_->shape = a.shape();
  check_shape(a.shape(), state_->method);
  check(transposed || !state_->method->needs.transposed, fault::usage,
        "{} multiplies by the transposed operator, too: give it", state_->method->name);
  check(!transposed || transposed->shape() == shape2{a.shape().cols, a.shape().rows}, fault::usage,
        "the transposed operator is {} x {} beside one of {} x {}", transposed ? transposed->shape().rows : 0,
        transposed ? transposed->shape().cols : 0, a.shape().rows, a.shape().cols);
  state_->a = &a;
  state_->transposed = transposed;
  if (!m) state_->own_m = std::make_unique<no_preconditioner<V>>();
  state_->m = m ? m : state_->own_m.get();
  state_->norm_inf = state_->norm_2 = facts.norm;
  state_->longest_row = facts.longest_row;
  state_->format = "own", state_->kernel = a.kernel(), state_->reason = "given";
  if (const own_set_up& own = state_->method->set_up) {
    const auto entries = own.beside_m ? a.to_triplets() : decltype(a.to_triplets()){};
    check(bool(entries), fault::usage,
          "{} keeps A and M in a form of its own: give the matrix, and a preconditioner by its name",
          state_->method->name);
    const turn mine(o.where);
    solve_options with_m = o;
    with_m.precond = "auto";
    state_->kept = own.template make<V>()(*entries, state_->parameters, with_m);
  }
}

template <class V> solver<V>::solver(solver&&) noexcept = default;
template <class V> solver<V>& solver<V>::operator=(solver&&) noexcept = default;
template <class V> solver<V>::~solver() = default;
template <class V> void solver<V>::set_limits(const solve_options& o) {
  check_options(o);
  for (solve_options* const mine : {&state_->options, &state_->given}) {
    mine->rtol = o.rtol, mine->atol = o.atol;
    mine->max_iterations = o.max_iterations, mine->outlook = o.outlook, mine->time_limit = o.time_limit;
  }
  if (state_->climbing) state_->climbing->set_limits(o);
  if (!state_->single) return;
  solve_options in_single = o;
  in_single.atol = std::min(std::ldexp(o.atol, state_->exponent), std::numeric_limits<double>::max());
  state_->single->set_limits(in_single);
}
template <class V> shape2 solver<V>::shape() const { return state_->shape; }
template <class V> double solver<V>::setup_seconds() const { return state_->setup_seconds; }

/// What a report says of the solver that gave it.
template <class V> void solver<V>::state::finish(solve_report& report) {
  if (!climbing) report.setup_seconds = 0;
  if (!told) report.setup_seconds += setup_seconds;
  if (!told && !single) report.setup_parts = clock.take();
  told = true;
  if (!single) report.scale = given.scale, report.reorder = given.reorder, report.arranged_about = arranged_about;
  if (single || climbing) return;
  report.solver = options.solver, report.precond = options.precond;
  report.format = format, report.kernel = kernel, report.reason = reason;
  if (kept) kept->describe(report);
}

template <class V> solve_report solver<V>::solve(cview<V> b, view<V> x) {
  check_vectors_of(state_->shape, b, x);
  const bool on_gpu = lie_on_gpu(state_->options.where, "b", b, "x", as_cview(x));
  const turn mine(state_->options.where);
  const solve_options o = state_->with_time_left();
  solve_report report = state_->moved ? std::move(state_->solve_moved(b, x, 1, on_gpu).front())
                        : on_gpu      ? state_->solve_on_gpu(b, x, o)
                                      : state_->solve(b, x, o);
  state_->finish(report);
  return report;
}

template <class V> std::vector<solve_report> solver<V>::solve(cview<V> b, view<V> x, index_t columns) {
  check_columns_of(state_->shape, b, x, columns);
  const bool on_gpu = lie_on_gpu(state_->options.where, "b", b, "x", as_cview(x));
  const turn mine(state_->options.where);
  auto reports = state_->moved ? state_->solve_moved(b, x, columns, on_gpu)
                 : on_gpu      ? state_->solve_columns_on_gpu(b, x, columns)
                               : state_->solve_columns(b, x, columns);
  for (solve_report& report : reports) state_->finish(report);
  return reports;
}

template <class V> solve_report solve(coo<V> a, cview<V> b, view<V> x, const solve_options& o) {
  check_triplets(a); // before the vectors: sides that no matrix has fit none
  check_shape(a.shape, o.solver == "auto" ? nullptr : &find_solver(o.solver));
  check_vectors_of(a.shape, b, x);
  return solver<V>(std::move(a), o).solve(b, x);
}

template class solver<double>;
template class solver<float>;
template solve_report solve(coo<double>, cview<double>, view<double>, const solve_options&);
template solve_report solve(coo<float>, cview<float>, view<float>, const solve_options&);

} // namespace furrow
