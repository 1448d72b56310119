// SPDX-License-Identifier: BSD-3-Clause
#include "bench/conditions.hpp"
#include "command.hpp"
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "numbers.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include "chebyshev/near_one.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/counted.hpp"
#include "core/printable.hpp"
#include "core/symmetry.hpp"
#include "picture/chart.hpp"

#include <furrow/chebyshev/density.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <optional>

namespace furrow::cli::cheb_command {
namespace {

using chebyshev::interval;

struct density_request {
  std::string file, folder;
  machine_options machine;
  chebyshev::density_options options;
  bool json = false;
  device where;
};

struct outcome {
  std::string name, format, kernel;
  shape2 shape;
  index_t nnz = 0;
  std::optional<double> only;         ///< the eigenvalue, where the matrix is a multiple of the identity
  int exponent = 0;                   ///< what follows is of the matrix divided by 2^exponent
  interval outer;                     ///< by Gershgorin
  chebyshev::spectral_density scaled; ///< on what Lanczos' process leaves of that
  double setup_seconds = 0, seconds = 0, bytes = 0;

  /// The eigenvalue of A that belongs to one of the scaled matrix.
  double lambda(double scaled) const { return std::scalbn(scaled, exponent); }
  /// Eigenvalues per unit of A.
  double density(double scaled_lambda) const { return std::scalbn(scaled.at(scaled_lambda), -exponent); }
};

memory_plan plan_of(const density_request& q, const matrix_input& input) {
  const stats s = expected_stats(input.header());
  const double value = bytes_of(q.machine.values()), rows = double(s.shape.rows);
  const double stored = find_format("csr").lay_out(s, q.machine.values(), {}).bytes;
  memory_plan plan;
  plan.read = input.load_bytes();
  plan.work = 2 * (8 + value) * double(s.nnz) + stored + 16 * rows; // two copies of the triplets at one moment
  if (q.where.is_gpu()) plan.gpu = stored + 4 * value * rows;
  return plan;
}

/// c, where the matrix is c times the identity.
std::optional<double> only_eigenvalue(const coo<double>& a) {
  std::optional<double> c;
  index_t on_diagonal = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.val[k] == 0) continue;
    if (a.row[k] != a.col[k] || c.value_or(a.val[k]) != a.val[k]) return {};
    c = a.val[k];
    ++on_diagonal;
  }
  if (on_diagonal == 0) return 0.0;
  return on_diagonal == a.shape.rows ? c : std::nullopt;
}

/// Divides by a power of two, which is returned, where numbers could leave the range of f32 on the way to the moments.
int take_scale_out(coo<double>& a) {
  const int e = chebyshev::exponent_of(as_cview(a.val));
  if (std::abs(e) < 60) return 0;
  a.val = chebyshev::scaled_by(as_cview(a.val), -e);
  return e;
}

/// Throws `fault::input` for a matrix without real eigenvalues.
void check_spectrum(const coo<double>& a, const std::string& file) {
  check(a.shape.rows == a.shape.cols, fault::input, "{}: is {} x {}: only a square matrix has eigenvalues", file,
        a.shape.rows, a.shape.cols);
  check(a.shape.rows > 0, fault::input, "{}: has no rows, so it has no eigenvalues", file);
  for (index_t k = 0; k < a.nnz(); ++k)
    check(std::isfinite(a.val[k]), fault::input, "{}: holds {} in row {}, column {}: it has no eigenvalues", file,
          a.val[k], a.row[k] + 1, a.col[k] + 1);
  check(is_symmetric(a), fault::input, "{}: is not symmetric: the density is that of real eigenvalues", file);
}

/// The bounds are those of A; the moments want A with its middle taken away.
template <class V> void run_on(const density_request& q, coo<V> a, outcome& o) {
  const double began = now();
  o.outer = chebyshev::gershgorin(a);
  const auto made = [&](coo<V> matrix) {
    const choice c = choose(measure(matrix), precision_of<V>, q.where);
    o.format = name_of(c);
    return make<V>(c, q.where, std::move(matrix));
  };
  const interval on = [&] {
    const auto op = made(coo<V>(a));
    return chebyshev::lanczos_bounds<V>({*op, q.where}, o.outer);
  }();
  const auto op = made(chebyshev::centre(std::move(a), on));
  o.kernel = op->kernel();
  const double ready = now();
  o.scaled = chebyshev::density<V>({*op, q.where, true}, on, q.options);
  o.setup_seconds = ready - began;
  o.seconds = now() - ready;
  const double vector = sizeof(V) * double(o.shape.rows), products = double(q.options.moments) / 2;
  o.bytes = double(q.options.vectors) * products * (op->bytes_per_apply() + 3 * vector);
}

/// Points of the curves, denser at the ends as the resolution is.
host_array<double> grid(const interval& on) {
  constexpr index_t count = 513;
  host_array<double> x(count);
  for (index_t i = 0; i < count; ++i) x[i] = on.at(-std::cos(std::numbers::pi * (double(i) + 0.5) / double(count)));
  return x;
}

std::string json_of(const density_request& q, const outcome& o) {
  const auto& d = o.scaled;
  json j;
  j["matrix"] = o.name;
  j["rows"] = o.shape.rows;
  j["nnz"] = o.nnz;
  j["interval"] = {o.lambda(d.on.low), o.lambda(d.on.high)};
  j["gershgorin"] = {o.lambda(o.outer.low), o.lambda(o.outer.high)};
  if (o.only) j["only_eigenvalue"] = *o.only;
  j["vectors"] = q.options.vectors;
  j["seed"] = q.options.seed;
  j["moments"] = std::vector<double>(d.moments.begin(), d.moments.end());
  for (const char* name : {"points", "density", "count_below"}) j[name] = json::array();
  for (const double x : grid(d.on)) {
    j["points"].push_back(o.lambda(x));
    j["density"].push_back(number(o.density(x)));
    j["count_below"].push_back(d.count_below(x));
  }
  j["format"] = o.format;
  j["kernel"] = o.kernel;
  j["precision"] = q.machine.precision_name;
  j["device"] = describe(q.where);
  j["threads"] = threads();
  j["seconds"] = {{"setup", o.setup_seconds}, {"moments", o.seconds}};
  j["bytes"] = o.bytes;
  return json_text(j);
}

std::string picture_of(const density_request& q, const outcome& o) {
  // In the numbers of the scaled matrix, which fit on an axis.
  const std::string unit = o.exponent == 0 ? "" : fmt::format(" / 2^{}", o.exponent);
  const std::string eigenvalues = "eigenvalue" + unit;
  picture::chart c(fmt::format("Density of the eigenvalues of {}", o.name),
                   picture::axis{eigenvalues, picture::scale::linear, o.scaled.on.low, o.scaled.on.high},
                   picture::axis{"eigenvalues per unit", picture::scale::linear});
  c.remark(fmt::format("{}, {}, {}", counted_text(o.shape.rows, "row"), counted(q.options.moments, "moment"),
                       counted(q.options.vectors, "random vector")));
  std::vector<picture::point> curve;
  for (const double x : grid(o.scaled.on)) curve.push_back({x, o.scaled.at(x)});
  c.line("kernel polynomial method", std::move(curve));
  return c.svg();
}

std::string text_of(const density_request& q, const outcome& o) {
  const auto& d = o.scaled;
  std::string text = fmt::format("{}  {} x {}, {}\n\n", printable(o.name), count_text(o.shape.rows),
                                 count_text(o.shape.cols), counted_text(o.nnz, "entry"));
  text +=
      line("spectrum", fmt::format("in [{:.6g}, {:.6g}] by Lanczos, [{:.6g}, {:.6g}] by Gershgorin", o.lambda(d.on.low),
                                   o.lambda(d.on.high), o.lambda(o.outer.low), o.lambda(o.outer.high)));
  text += line("moments",
               fmt::format("{}, {} random vectors, {}", d.moments.size(), q.options.vectors, q.machine.precision_name));
  text += line("format", fmt::format("{} ({})", o.format, o.kernel));
  text += line("device", q.where.is_gpu() ? describe(q.where) : "cpu, " + counted(threads(), "thread"));
  text += line("time", fmt::format("setup {}, moments {}", seconds_text(o.setup_seconds), seconds_text(o.seconds)));
  text += line("traffic", fmt::format("{}/s", bytes_text(o.seconds > 0 ? o.bytes / o.seconds : 0)));
  if (!q.folder.empty()) text += line("files", fmt::format("{0}/density.json, {0}/density.svg", printable(q.folder)));
  if (o.only) return text + fmt::format("\n  all eigenvalues are {}\n", *o.only);
  text += "\n        from           to   eigenvalues\n";
  constexpr int bins = 10;
  for (int k = 0; k < bins; ++k) {
    const double low = d.on.at(2.0 * k / bins - 1), high = d.on.at(2.0 * (k + 1) / bins - 1);
    const double share = d.count_below(high) - d.count_below(low);
    const auto stars = static_cast<std::size_t>(std::max(0.0, std::round(40 * share / double(o.shape.rows))));
    text +=
        fmt::format("{:12.5g} {:12.5g}  {:12.0f}  {}\n", o.lambda(low), o.lambda(high), share, std::string(stars, '*'));
  }
  return text;
}

int run_density(density_request& q) {
  check_matrix(q.file);
  q.where = q.machine.apply();
  const matrix_input input(q.file);
  announce(plan_of(q, input), q.where);
  if (!q.folder.empty()) make_folder(q.folder);
  problem p = input.load();
  outcome o;
  o.name = p.name;
  o.shape = p.a.shape;
  o.nnz = p.a.nnz();
  check_spectrum(p.a, q.file);
  o.only = only_eigenvalue(p.a);
  o.exponent = take_scale_out(p.a);
  if (q.machine.values() == precision::f64) run_on<double>(q, std::move(p.a), o);
  else run_on<float>(q, convert_values<float>(std::move(p.a)), o);
  check(
      std::isfinite(o.lambda(o.outer.low)) && std::isfinite(o.lambda(o.outer.high)), fault::input,
      "{}: the eigenvalues may lie anywhere in [{:.3g}, {:.3g}] times 2^{}, beyond the range of f64: scale the matrix",
      q.file, o.outer.low, o.outer.high, o.exponent);
  if (!q.folder.empty()) {
    write_into(q.folder, "density.json", json_of(q, o));
    write_into(q.folder, "density.svg", picture_of(q, o));
  }
  print(q.json ? json_of(q, o) : text_of(q, o));
  return done;
}

} // namespace

std::function<int()> add_density(CLI::App& app, context& shared) {
  auto q = std::make_shared<density_request>();
  add_matrix(app, shared, q->file);
  app.add_option("--moments", q->options.moments, "resolution: features of pi half-widths / N (default 512)")
      ->type_name("N")
      ->transform(whole(2, 1 << 20));
  app.add_option("--vectors", q->options.vectors, "random vectors to average over (default 8)")
      ->type_name("N")
      ->transform(whole(1, 1 << 20));
  app.add_option("--seed", q->options.seed, "of the random vectors (default 1)")->type_name("N")->transform(whole(0));
  shared.words[app.add_option("-o,--output", q->folder, "write density.json and density.svg there")
                   ->type_name("FOLDER")] = {"<file>"};
  q->machine.add(app, shared);
  add_json(app, q->json);
  app.footer("Examples:\n"
             "  furrow cheb density poisson3d:30\n"
             "  furrow cheb density matrix.mtx --moments 2048 -o density");
  return [q] { return run_density(*q); };
}

} // namespace furrow::cli::cheb_command
