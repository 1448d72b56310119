// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"
#include "random_vector.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/symmetry.hpp"
#include "tune/steady.hpp"

#include <furrow/generate.hpp>

#include <algorithm>

namespace furrow::cli::cg_bench {
namespace {

/// One system, its vectors in the memory of the device.
template <class V, class Memory> class session {
public:
  session(const plan& p, outcome& o, const coo<V>& a)
      : plan_(p), outcome_(o), zeros_(host_array<V>(a.shape.cols, V(0))), b_(a.shape.rows), x_(a.shape.cols) {
    const choice c = choose(o.s, p.values, p.where, {p.format, p.kernel});
    op_ = make<V>(c, p.where, coo<V>(a));
    o.format = name_of(c);
    o.kernel = op_->kernel();
    const basic_array<V, Memory> answer(random_vector<V>(a.shape.cols));
    op_->apply(V(1), as_cview(answer), V(0), as_view(b_));
    options_.rtol = p.goal();
  }

  void run() {
    const cg_form usual = form_of_cg(plan_.where);
    const solve_report first = solve(usual);
    for (const auto& f : cg_forms()) {
      std::string why = obstacle(f.form, plan_.where);
      if (why.empty() && f.form == cg_form::ahead && (first.restarts > 0 || first.why != status::converged))
        why = "cg does not end with its first start here, so that the host cannot know its last step";
      if (why.empty()) outcome_.forms.push_back({&f, f.form == usual, {}, {}, 0});
      else outcome_.skipped.push_back({&f, std::move(why)});
    }
    steps_ = first.iterations;
    for (int turn = -1; turn < plan_.turns; ++turn) // the first one warms up
      for (auto& f : outcome_.forms) {
        f.report = solve(f.form->form);
        if (turn >= 0) f.seconds.push_back(seconds_);
      }
    for (auto& f : outcome_.forms) f.ceiling = plan_.ceiling(f.report.bytes_per_iteration);
  }

private:
  solve_report solve(cg_form f) {
    x_ = zeros_;
    wait_for(plan_.where);
    const double began = now();
    auto report = run_cg_form<V>(f, *op_, outcome_.s, as_cview(b_), as_view(x_), options_, steps_); // ends with a wait
    seconds_ = now() - began;
    return report;
  }

  const plan& plan_;
  outcome& outcome_;
  basic_array<V, Memory> zeros_, b_, x_;
  std::unique_ptr<any_operator<V>> op_;
  solve_options options_;
  index_t steps_ = 0;
  double seconds_ = 0; ///< of the last solve
};

template <class V> void measure_in(const plan& p, outcome& o, const coo<V>& a) {
  if (p.where.is_gpu()) session<V, gpu_memory>(p, o, a).run();
  else session<V, host_memory>(p, o, a).run();
}

} // namespace

double measured_form::median() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return n == 0 ? 0 : (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

const measured_form& outcome::cg() const { return *std::ranges::find_if(forms, &measured_form::is_cg); }

outcome measure_matrix(const std::string& file, const plan& p) {
  outcome o;
  problem read = load(file);
  o.name = read.name;
  o.values = p.values;
  check(read.a.shape.rows == read.a.shape.cols, fault::input, "it is {} x {}: conjugate gradients take a square matrix",
        read.a.shape.rows, read.a.shape.cols);
  check(read.a.nnz() > 0, fault::input, "it has no entries: there is nothing to solve");
  check_symmetry(read.a);
  o.s = measure(read.a);
  check(o.s.finite, fault::input, "it holds a NaN or an infinity: conjugate gradients take finite numbers");
  if (p.values == precision::f64) measure_in<double>(p, o, read.a);
  else measure_in<float>(p, o, convert_values<float>(std::move(read.a)));
  o.s.row_length = {};
  return o;
}

} // namespace furrow::cli::cg_bench
