// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "memory.hpp"
#include "nearest.hpp"
#include "random_vector.hpp"
#include "spmv_request.hpp"
#include "text.hpp"

#include "tune/ceiling.hpp"
#include "tune/row_error.hpp"
#include "tune/timing.hpp"

#include <furrow/generate.hpp>

#include <fmt/format.h>

#include <limits>

namespace furrow::cli::spmv_command {
namespace {

/// The formats and kernels that were asked for and have code on this device.
std::vector<choice> runs_of(const spmv_request& q, const stats& s) {
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
    const choice c = choose(s, p, q.where, q.format, q.kernel == "all" ? "auto" : q.kernel);
    check(add(*c.format, c.parameters), fault::usage,
          fmt::format("format {} has no code for the {}", c.format->name, q.where.is_gpu() ? "GPU" : "CPU"));
    return runs;
  }
  for (const auto* f : formats()) {
    if (q.kernel != "all" && q.kernel != "auto") { // a kernel that only some formats have
      const auto kernels = f->backend(q.where).kernels;
      if (std::ranges::none_of(kernels, [&](const auto& k) { return k.name == q.kernel; })) continue;
    }
    add(*f, {});
  }
  check(!runs.empty(), fault::usage, fmt::format("no format has a kernel '{}' on this device", q.kernel));
  return runs;
}

/// Times one operator; x and y in its memory.
template <class V, class Array>
spmv_result measure_one(const spmv_request& q, const any_operator<V>& op, const host_array<V>& x,
                        const row_reference* reference) {
  // What a kernel forgets to write shows up as NaN.
  const host_array<V> unwritten(op.shape().rows, std::numeric_limits<V>::quiet_NaN());
  const Array device_x(x);
  Array device_y(unwritten);
  spmv_result r;
  r.kernel = op.kernel();
  r.bytes = op.bytes_per_apply();
  r.time = time_apply<V>(op, as_cview(device_x), as_view(device_y), q.where, q.repeat);
  if (reference) {
    const host_array<V> y(device_y);
    r.row_error = largest_row_error<V>(*reference, as_cview(y));
  }
  return r;
}

/// A copy of the triplets, or, for the last one who needs them, the triplets themselves.
template <class V> coo<V> copy_or_last(coo<V>& a, bool last) {
  if (last) return std::move(a);
  return a;
}

template <class V> void measure_all(const spmv_request& q, coo<V> a, const stats& s, spmv_outcome& o) {
  const host_array<V> x = random_vector<V>(a.shape.cols);
  std::optional<row_reference> reference;
  if (q.check) reference = reference_product<V>(a, as_cview(x));
  const auto runs = runs_of(q, s);
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
      const row_reference* const truth = reference ? &*reference : nullptr;
      auto r = q.where.is_gpu() ? measure_one<V, gpu_array<V>>(q, *op, x, truth)
                                : measure_one<V, host_array<V>>(q, *op, x, truth);
      r.format = name_of(c);
      r.gflops = 2e-9 * double(s.nnz) / r.time.median;
      r.gbps = 1e-9 * r.bytes / r.time.median;
      o.results.push_back(std::move(r));
    } catch (const error& e) {
      if (q.format != "all" || e.kind == fault::internal) throw;
      leave_out(e.what());
    }
  }
}

memory_plan plan_of(const spmv_request& q, const matrix_header& head) {
  const stats s = expected_stats(head);
  const double value = bytes_of(q.machine.values()), rows = double(s.shape.rows), nnz = double(s.nnz);
  const double triplets = (8 + value) * nnz, vector = value * rows;
  const bool one = q.format != "all" && q.kernel != "all";
  const std::string asked = q.format == "all" || q.format == "auto" ? "csr" : q.format;
  const choice c = choose(s, q.machine.values(), {}, asked, "auto");
  const format_entry& f = *c.format;
  const double stored = f.lay_out(s, q.machine.values(), c.parameters).bytes;
  memory_plan plan;
  plan.read = std::max(load_bytes(q.file, head), std::clamp(4 * last_level_cache(), 256e6, 2e9));
  // Either an operator is being made, from triplets that are still needed or not, or its product runs on two vectors.
  const double making = (one ? 1 : 2) * triplets + vector + (f.name == "csr" ? 4 * rows : 0);
  const double running = (one ? 0 : triplets) + stored + 4 * vector;
  plan.work = std::max(making, running) + (q.check ? 24 * rows : 0);
  if (q.machine.values() == precision::f32) plan.work = std::max(plan.work, 20 * nnz);
  if (q.where.is_gpu()) plan.gpu = stored + value * (rows + double(s.shape.cols));
  return plan;
}

int run(spmv_request& q) {
  check_name("format", q.format.substr(0, q.format.find(':')), format_names({"auto", "all"}));
  check_name("kernel", q.kernel, kernel_names({"auto", "all"}));
  check_matrix(q.file);
  q.where = q.machine.apply();
  announce(plan_of(q, load_header(q.file)), q.where);
  spmv_outcome o;
  o.ceiling_gbps = 1e-9 * measure_read_ceiling(q.where);
  problem p = load(q.file);
  const stats s = measure(p.a);
  check(s.finite || !q.check, fault::input,
        fmt::format("{}: holds a NaN or an infinity: no reference to --check with", q.file));
  o.name = p.name;
  o.shape = s.shape;
  o.nnz = s.nnz;
  if (q.machine.values() == precision::f64) {
    measure_all<double>(q, std::move(p.a), s, o);
  } else {
    auto narrow = convert_values<float>(std::move(p.a));
    p.a = {};
    measure_all<float>(q, std::move(narrow), s, o);
  }
  print(q.json ? json_of(q, o) : text_of(q, o));
  check(!o.results.empty(), fault::memory, "no format could be made of this matrix");
  for (const auto& r : o.results)
    if (r.row_error && !(*r.row_error <= 1))
      throw error(fault::internal,
                  fmt::format("{} ({}): a row is {:.3g} times the rounding bound away from the reference", r.format,
                              r.kernel, *r.row_error));
  return done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto q = std::make_shared<spmv_request>();
  add_matrix(app, shared, q->file);
  shared.words[app.add_option("--format", q->format,
                              "auto, all or a format, with its parameters after colons (default auto)")
                   ->type_name("NAME")] = format_names({"auto", "all"});
  shared.words[app.add_option("--kernel", q->kernel, "auto, all or a kernel of the format (default auto)")
                   ->type_name("NAME")] = kernel_names({"auto", "all"});
  app.add_option("--repeat", q->repeat, "timed products (default: about half a second of them)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--check", q->check, "compare every row with a reference in long double");
  add_json(app, q->json);
  q->machine.add(app, shared);
  app.footer(
      "The median of the timed products counts; 'of ceiling' compares with the fastest read of memory, measured in\n"
      "the same run. The row error is in units of the rounding bound (row length + 2) u sum|a_ij x_j|: at most 1 "
      "passes.\n\n"
      "Examples:\n"
      "  furrow spmv poisson3d:100 --format all --check\n"
      "  furrow spmv matrix.mtx --device gpu --format csr --kernel all\n"
      "  furrow spmv matrix.mtx --precision f32 --threads 8 --json");
  return [q] { return run(*q); };
}

} // namespace

extern const subcommand entry{"spmv", "Time y = A x in one format or all, against the read ceiling of the memory.",
                              setup};

} // namespace furrow::cli::spmv_command
