// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "played.hpp"
#include "played_text.hpp"
#include "random_vector.hpp"
#include "spmv_request.hpp"
#include "sweep.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/kernel_numbers.hpp"
#include "core/single_precision.hpp"
#include "core/transpose.hpp"
#include "tune/ceiling.hpp"
#include "tune/infinity_probe.hpp"
#include "tune/row_error.hpp"
#include "tune/timing.hpp"
#include "tune/touched.hpp"

#include <furrow/tune.hpp>
#include <furrow/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::cli::spmv_command {
namespace {

template <class V> bool all_finite(const host_array<V>& x) {
  return std::ranges::all_of(x, [](V v) { return std::isfinite(v); });
}

/// The formats and kernels that were asked for and have code on this device.
template <class V>
std::vector<choice> runs_of(const spmv_request& q, const coo<V>& a, const stats& s, const host_array<V>& x) {
  const precision p = q.machine.values();
  std::vector<choice> runs;
  const auto add = [&](const format_entry& f, const std::string& parameters) {
    const auto& backend = f.backend(q.where);
    if (p == precision::f64 ? !backend.f64 : !backend.f32) return false;
    if (q.kernel != "all") {
      runs.push_back({&f, parameters, q.kernel, {}});
      return true;
    }
    for (const auto& k : backend.kernels) runs.push_back({&f, parameters, std::string(k.name), {}});
    return !backend.kernels.empty();
  };
  if (q.format != "all") {
    const wish w{q.format, q.kernel == "all" ? std::string_view("auto") : std::string_view(q.kernel),
                 q.expected_products, all_finite(x)};
    const choice c = q.tune ? tune(a, s, q.where, w) : choose(s, p, q.where, w);
    if (q.sweep) return sweep_of(c);
    if (q.kernel == "all") add(*c.format, c.parameters);
    else runs.push_back(c);
    return runs;
  }
  for (const auto* f : formats()) {
    if (q.kernel != "all" && q.kernel != "auto") { // a kernel that only some formats have
      const auto kernels = f->backend(q.where).kernels;
      if (std::ranges::none_of(kernels, [&](const auto& k) { return k.name == kernel_name(q.kernel); })) continue;
    }
    add(*f, {});
  }
  check(!runs.empty(), fault::usage, "no format has a kernel '{}' on this device", q.kernel);
  return runs;
}

/// What a product is checked by.
template <class V> struct references {
  row_reference rows;
  infinity_probe<V> infinities;
};

/// Times one operator; x and y in its memory. `touched`: elements of x that the matrix reads.
template <class V, class Array>
spmv_result measure_one(const spmv_request& q, const any_operator<V>& op, const host_array<V>& x, index_t touched,
                        const references<V>* reference, host_array<V>& y) {
  // What a kernel forgets to write shows up as NaN.
  const host_array<V> unwritten(op.shape().rows, std::numeric_limits<V>::quiet_NaN());
  Array device_x(x);
  Array device_y(unwritten);
  spmv_result r;
  r.kernel = op.kernel();
  const auto alpha = static_cast<V>(q.alpha);
  r.bytes = alpha == 0 ? double(device_y.byte_count()) : bytes_moved(op, touched);
  r.time = time_apply<V>(op, as_cview(device_x), as_view(device_y), q.where, q.repeat, alpha);
  if (reference || !q.output.empty()) y = host_array<V>(device_y);
  if (!reference) return r;
  r.row_error = largest_row_error<V>(reference->rows, as_cview(y));
  device_x = Array(reference->infinities.x);
  op.apply(V(1), as_cview(device_x), V(0), as_view(device_y));
  const infinity_reach reach = reach_of<V>(reference->infinities, as_cview(host_array<V>(device_y)));
  require(reach.hidden < 0, "an infinity in x does not show in a row that has an entry there");
  r.spread = reach.spread;
  return r;
}

/// Bytes of the products in `runs`, made one after the other; all but the last one beside the triplets.
memory_plan plan_of(const spmv_request& q, const stats& s, const std::vector<choice>& runs) {
  const precision p = q.machine.values();
  const double value = bytes_of(p), rows = double(s.shape.rows), nnz = double(s.nnz);
  const double triplets = (8 + value) * nnz, vector = value * rows;
  memory_plan plan;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const layout l = runs[k].format->lay_out(s, p, runs[k].parameters);
    if (!l.refusal.empty()) continue;
    const double beside = k + 1 == runs.size() ? 0 : triplets;
    plan.work = std::max({plan.work, beside + vector + bytes_to_make(l, s, p), beside + l.bytes + 4 * vector});
    if (q.where.is_gpu()) plan.gpu = std::max(plan.gpu, l.bytes + value * (rows + double(s.shape.cols)));
  }
  if (q.check) plan.work += (25 + value) * rows;
  if (!q.x.empty() || !q.output.empty()) plan.work += 8 * (rows + double(s.shape.cols));
  if (p == precision::f32) plan.work = std::max(plan.work, 20 * nnz); // both values for a moment
  return plan;
}

/// The same before the matrix is read, as for csr.
memory_plan plan_of(const spmv_request& q, const matrix_input& input) {
  stats s = expected_stats(input.header());
  if (q.transpose) std::swap(s.shape.rows, s.shape.cols);
  const bool open = q.format == "all" || q.format == "auto";
  memory_plan plan = plan_of(q, s, {choose(s, q.machine.values(), {}, {open ? "csr" : std::string_view(q.format)})});
  plan.read = input.load_bytes();
  if (q.transpose) plan.read = std::max(plan.read, 2 * 16 * double(s.nnz) + 8 * double(s.shape.rows));
  return plan;
}

/// A copy of the triplets, or, for the last one who needs them, the triplets themselves.
template <class V> coo<V> copy_or_last(coo<V>& a, bool last) {
  if (last) return std::move(a);
  return a;
}

template <class V>
void measure_all(const spmv_request& q, coo<V> a, const stats& s, const memory_plan& before, spmv_outcome& o) {
  const auto x = q.x.empty() ? random_vector<V>(a.shape.cols)
                             : read_vector_for<V>(q.x, "-x", a.shape.cols, q.transpose ? "row" : "column");
  check(std::isfinite(static_cast<V>(q.alpha)), fault::usage, "--alpha: {} is too large for f32", q.alpha);
  check(q.alpha == 0 || static_cast<V>(q.alpha) != 0, fault::usage,
        "--alpha: {} is too small for f32, in which it is 0", q.alpha);
  const index_t touched = touched_columns(a);
  std::optional<references<V>> reference;
  if (q.check) {
    check(all_finite(x), fault::input, "{}: holds a NaN or an infinity: no reference to --check with", q.x);
    reference = {reference_product<V>(a, as_cview(x), static_cast<V>(q.alpha)), probe_of(a)};
    o.rows_not_checked = std::ranges::count_if(reference->rows.bound, [](double v) { return std::isinf(v); });
    if (o.rows_not_checked > 0)
      remark(fmt::format("{} of {} rows may leave the range of {}: they are not checked", o.rows_not_checked,
                         a.shape.rows, is_wide<V> ? "f64" : "f32"));
  }
  const auto runs = runs_of(q, a, s, x);
  memory_plan plan = plan_of(q, s, runs);
  plan.base = before.base;
  plan.read = before.read;
  announce(plan, q.where);
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const choice& c = runs[k];
    const auto leave_out = [&](const std::string& why) { o.skipped.push_back({std::string(c.format->name), why}); };
    const layout l = c.format->lay_out(s, precision_of<V>, c.parameters);
    if (!l.refusal.empty()) {
      leave_out(l.refusal);
      continue;
    }
    if (q.format == "all" && l.bytes > 0.8 * double(available_host_memory())) {
      leave_out(fmt::format("would take {}", bytes_text(l.bytes)));
      continue;
    }
    try {
      const auto op = make<V>(c, q.where, copy_or_last(a, k + 1 == runs.size()));
      const references<V>* const truth = reference ? &*reference : nullptr;
      host_array<V> y;
      auto r = q.where.is_gpu() ? measure_one<V, gpu_array<V>>(q, *op, x, touched, truth, y)
                                : measure_one<V, host_array<V>>(q, *op, x, touched, truth, y);
      if (o.results.empty() && !q.output.empty()) {
        if (!all_finite(y)) remark(q.output, ": holds a NaN or an infinity: A, x or their product does");
        write_answer(y, q.output);
      }
      r.format = name_of(c);
      o.reason = c.reason;
      r.gflops = q.alpha == 0 ? 0 : 2e-9 * double(s.nnz) / r.time.median;
      r.gbps = 1e-9 * r.bytes / r.time.median;
      o.results.push_back(std::move(r));
    } catch (const error& e) {
      if (q.format != "all" || e.kind == fault::internal) throw;
      leave_out(e.what());
    }
  }
}

choosing choosing_of(spmv_request& q) { return {q.format, q.kernel, q.tune, q.expected_products}; }

int run(spmv_request& q) {
  choosing_of(q).check({"auto", "all"});
  if (q.sweep) check_sweep(q);
  check_matrix(q.file);
  check_input(q.x, "-x");
  check_output(q.output, "-o", {q.file, q.x});
  check_ending(q.output, "-o", "y", vector_endings());
  check_output(q.trace, "--trace", {q.file, q.x, q.output});
  check_ending(q.trace, "--trace", "a picture", {".svg"});
  check_one_standard_input({q.file, q.x});
  check_one_standard_output(q.json, {q.output, q.trace});
  if (q.machine.where == "play") {
    check_threads_of_play(q.machine.thread_count);
    q.machine.where = "cpu";
    q.machine.apply();
    return run_played(q);
  }
  check_not_played(q.play, q.trace);
  q.where = q.machine.apply();
  check(!q.sweep || q.where.is_gpu(), fault::usage,
        "--sweep: tries lanes and blocks of a GPU's kernels, and this runs on the CPU: give {}",
        "--device gpu, or play");
  choosing_of(q).check_runs(q.where, true);
  const matrix_input input(q.file);
  memory_plan before = plan_of(q, input);
  check_fits(before, q.where);
  spmv_outcome o;
  problem p = input.load();
  o.shape = p.a.shape;
  if (q.transpose) {
    if (q.machine.values() == precision::f32)
      values_in_single_precision(p.a); // what does not fit is named by its place in the file
    const double began = now();
    p.a = transposed(p.a);
    o.transpose_seconds = now() - began;
  }
  const stats s = measure(p.a);
  check(s.finite || !q.check, fault::input, "{}: holds a NaN or an infinity: no reference to --check with", q.file);
  o.name = p.name;
  o.nnz = s.nnz;
  if (q.machine.values() == precision::f64) {
    measure_all<double>(q, std::move(p.a), s, before, o);
  } else {
    auto narrow = convert_values<float>(std::move(p.a));
    p.a = {};
    measure_all<float>(q, std::move(narrow), s, before, o);
  }
  read_ceilings ceilings(q.where, q.ceiling); // last of all: what they read takes the place of the matrix
  for (spmv_result& r : o.results) r.ceiling_gbps = 1e-9 * ceilings.of(r.bytes);
  if (q.json) print(json_of(q, o));
  else print_beside({q.output}, text_of(q, o));
  check(!o.results.empty(), fault::memory, "no format could be made of this matrix");
  for (const auto& r : o.results)
    if (r.row_error && !(*r.row_error <= 1))
      throw error(fault::internal,
                  fmt::format("{} ({}): a row is {:.3g} times the rounding bound away from the reference", r.format,
                              r.kernel, *r.row_error));
  return done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  constexpr double largest = std::numeric_limits<double>::max();
  auto q = std::make_shared<spmv_request>();
  add_matrix(app, shared, q->file);
  add_file(app, shared, "-x", q->x, "x (default: random in [0.5, 1.5))");
  add_file(app, shared, "-o,--output", q->output, "write y: .mtx, .npy, .petsc, .txt or .csv");
  app.add_option("--alpha", q->alpha, "y = alpha A x (default 1)")->type_name("R")->transform(real(-largest));
  app.add_flag("--transpose", q->transpose, "y = alpha A' x; the triplets are transposed first");
  choosing_of(*q).add(app, shared, {"auto", "all"});
  add_repeat(app, q->repeat, "timed products (default: about half a second of them)");
  app.add_flag("--check", q->check, "compare every row with a reference in long double; tell where infinities in x go");
  app.add_flag("!--no-ceiling", q->ceiling, "do not measure how fast as much is read at best");
  app.add_flag("--sweep", q->sweep,
               "every number of lanes and threads a block of a classic kernel (vector), on a GPU or played");
  add_json(app, q->json);
  q->machine.add(app, shared);
  q->machine.more_places = {"play"};
  add_played(app, shared, q->play, q->trace);
  app.footer(
      "The median of the timed products counts; 'of ceiling' compares with the fastest read of as many bytes, out of\n"
      "the caches where they fit there, measured in the same run. The row error is in units of the rounding bound\n"
      "(row length + 2) u |alpha| sum|a_ij x_j|: at most 1 passes.\n\n"
      "Examples:\n"
      "  furrow spmv poisson3d:100 --format all --check\n"
      "  furrow spmv matrix.mtx --device gpu --format csr --kernel all\n"
      "  furrow spmv matrix.mtx --device gpu --kernel vector:lanes=8,block=128\n"
      "  furrow spmv matrix.mtx --device gpu --sweep --kernel vector\n"
      "  furrow spmv matrix.mtx -x x.mtx --alpha -1 --transpose -o y.npy\n"
      "  furrow spmv matrix.mtx --precision f32 --threads 8 --json\n"
      "  furrow spmv poisson2d:100 --device play --kernel vector --trace lanes.svg");
  return [q] { return run(*q); };
}

} // namespace

extern const subcommand entry{
    "spmv", "Multiply: time y = A x in one format or all, against the fastest read of as many bytes.", setup};

} // namespace furrow::cli::spmv_command
