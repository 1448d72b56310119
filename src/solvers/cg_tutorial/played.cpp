// SPDX-License-Identifier: BSD-3-Clause
#include "played.hpp"
#include "cg_tutorial.hpp"
#include "play.hpp"

#include "backends/cpu/space.hpp"
#include "core/check.hpp"
#include "core/parameters.hpp"
#include "core/symmetry.hpp"
#include "formats/played.hpp"
#include "preconditioners/entry.hpp"
#include "solve/run.hpp"

#include <furrow/stats.hpp>

#include <algorithm>

namespace furrow {
namespace {

using launches = std::vector<played_launches>;

/// Adds `more` to what the kernel of its name did before.
void note(launches& all, play::kernel_report more) {
  const auto is_it = [&](const auto& one) { return one.sum.kernel == more.kernel; };
  const auto found = std::ranges::find_if(all, is_it);
  if (found == all.end()) {
    all.push_back({1, std::move(more)});
    return;
  }
  play::kernel_report& sum = found->sum;
  ++found->launches;
  sum.blocks += more.blocks;
  sum.barriers += more.barriers;
  sum.shuffles += more.shuffles;
  sum.all_faults += more.all_faults;
  for (const auto& t : more.arrays) {
    const auto same = std::ranges::find_if(sum.arrays, [&](const auto& old) {
      return old.array == t.array && old.shared == t.shared && old.stores == t.stores;
    });
    if (same == sum.arrays.end()) {
      sum.arrays.push_back(t);
      continue;
    }
    same->instructions += t.instructions;
    same->lanes += t.lanes;
    same->bytes += t.bytes;
    same->lines += t.lines;
    same->conflicts += t.conflicts;
  }
  for (auto& f : more.faults)
    if (std::ranges::find(sum.faults, f) == sum.faults.end()) sum.faults.push_back(std::move(f));
}

/// The CPU's space, but for the two operations that the method makes one at a time.
template <class V> class played_space : public cpu::space<V> {
public:
  played_space(launches& all, const play::settings& how) : all_(all), how_(how) {}

  void add_alone(cview<V> v1, V alpha, cview<V> v2, view<V> sum) {
    note(all_, unfused::play_add(v1, alpha, v2, sum, how_));
  }
  double dot_alone(cview<V> x, cview<V> y) {
    double total = 0;
    note(all_, unfused::play_dot(x, y, total, how_));
    return total;
  }

private:
  launches& all_;
  const play::settings how_;
};

template <class V> class played_operator final : public any_operator<V> {
public:
  played_operator(const coo<V>& a, play::played_choice choice, std::string_view parameters, launches& all,
                  const play::settings& how)
      : a_(a), choice_(choice), parameters_(parameters), all_(all), how_(how) {}

  shape2 shape() const override { return a_.shape; }
  double bytes_per_apply() const override { return stored_bytes() + double(a_.shape.rows + a_.shape.cols) * sizeof(V); }
  double stored_bytes() const override {
    return find_format(choice_.format->format).lay_out(measure(a_), precision_of<V>, parameters_).bytes;
  }
  std::string kernel() const override { return std::string(choice_.kernel); }
  std::optional<coo<V>> to_triplets() const override { return coo<V>(a_); }

protected:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    for (auto& r : choice_.format->product<V>()({a_, parameters_, alpha, x, beta, y}, choice_.kernel, how_))
      note(all_, std::move(r));
  }
  void do_apply_dot(cview<V>, view<V>, slot) const override {
    require(false, "a product with its dot, which the tutorial's method does not ask for");
  }

private:
  const coo<V>& a_;
  play::played_choice choice_;
  std::string_view parameters_;
  launches& all_;
  const play::settings how_;
};

} // namespace

template <class V>
played_solve play_cg(const coo<V>& a, cview<V> b, view<V> x, std::string_view format, std::string_view kernel,
                     const solve_options& options, const play::settings& how) {
  const index_t n = a.shape.rows;
  check(
      n == a.shape.cols && b.size == n && x.size == n, fault::usage,
      "a played solve of {} x {}, b has {} elements and x {}: conjugate gradients take a square matrix and vectors of "
      "its side",
      n, a.shape.cols, b.size, x.size);
  check_symmetry(a);
  const stats s = measure(a);
  check(s.finite && not_finite(b, "b").empty() && not_finite<V>(x, "the first guess").empty(), fault::input,
        "the matrix, b or the first guess holds a NaN or an infinity: a played solve takes finite numbers");
  check(std::ranges::any_of(b, [](V v) { return v != 0; }), fault::input,
        "b is zero, so x is: there is nothing to play");
  check(!needs_scale(b), fault::input,
        "squares of the elements of b leave the range of its precision, and a solve would scale them: scale b");
  const auto [name, parameters] = take_apart(format);
  played_solve done;
  const played_operator<V> op(a, play::find_played(name, kernel), parameters, done.kernels, how);
  const auto m = find_preconditioner("none").make<V>()(a, {}, device{}, solver_needs{});
  const linear_system<V> system{op, *m, b, x, s.norm_inf, s.norm_inf, s.row_max};
  played_space<V> space(done.kernels, how);
  done.report = run_in<cg_tutorial_method>(space, system, options);
  done.report.solver = cg_tutorial_method::name;
  done.report.precond = "none";
  done.report.format = name == "auto" ? "csr" : std::string(format);
  done.report.kernel = op.kernel();
  return done;
}

template played_solve play_cg(const coo<double>&, cview<double>, view<double>, std::string_view, std::string_view,
                              const solve_options&, const play::settings&);
template played_solve play_cg(const coo<float>&, cview<float>, view<float>, std::string_view, std::string_view,
                              const solve_options&, const play::settings&);

} // namespace furrow
