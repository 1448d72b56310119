// SPDX-License-Identifier: BSD-3-Clause
#include "survey.hpp"

#include "as_they_are.hpp"
#include "memory.hpp"

#include "core/clock.hpp"
#include "tune/tune_until.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace furrow {

std::optional<refusal> interruption(const solve_options& o) {
  if (o.cancelled && o.cancelled()) return refusal{status::interrupted, "interrupted while it was set up"};
  return {};
}

std::optional<refusal> interruption(const solve_options& o, double deadline, std::string_view precond) {
  if (auto said = interruption(o)) return said;
  if (now() <= deadline) return {};
  return refusal{status::max_iterations, std::string(precond) + " was not set up within the limit on the time"};
}

refusal refusal_of(const odd_entry& e) {
  if (e.row < 0) return {status::nan, "iteration 0: the matrix holds a NaN or an infinity"};
  return {status::nan, fmt::format("iteration 0: the matrix holds {} in row {}, column {}",
                                   std::isnan(e.value) ? "a NaN" : "an infinity", e.row + 1, e.col + 1)};
}

namespace {

/// The first one; of rows on a GPU, which come home for it.
template <class V> odd_entry odd_one(const matrix_source<V>& a) {
  const coo<V>& all = a.triplets();
  const index_t k = std::ranges::find_if(all.val, [](V v) { return !std::isfinite(v); }) - all.val.begin();
  return k < all.nnz() ? odd_entry{all.row[k], all.col[k], double(all.val[k])} : odd_entry{};
}

/// Up to so many entries in all, and up to more where they are in many diagonals, A stays as it is.
struct few_entries {
  index_t of_any = 0, of_no_grid = 0, diagonals_of_a_grid = 0;

  bool are(const stats& sums) const {
    if (sums.nnz <= of_any) return true;
    return sums.nnz <= of_no_grid && (sums.diagonals == 1 || sums.diagonals > diagonals_of_a_grid);
  }
};

/// Where "auto" leaves a method that is slow. On grids conjugate gradients make 50 steps in the time that a look, a
/// choice and a conversion take, which save a fifth to a half of each; elsewhere the look takes as long as 100 to 500
/// steps, 2 to 13 ms, and systems that take some hundred gain 1 to 5 ms by the best format.
constexpr few_entries of_short_runs{1 << 16, 1 << 19, 9};
/// For a method that was named, and keeps on: what is lost is 10 % of a product, and of up to 10 us a fifth.
constexpr few_entries of_long_runs{1 << 12, 1 << 15, 27};

/// What the survey says before it knows enough to choose by; nothing where it has to.
std::optional<choice> without_a_look(const stats& sums, const wish& w, const few_entries& few,
                                     const std::function<bool(const stats&)>& few_products) {
  auto rows = rows_as_they_are(w, {});
  if (!rows || !sums.finite) return {};
  if (few_products(sums)) rows->reason = "a factorisation comes first, which leaves few products";
  else if (few.are(sums)) rows->reason = "a choice takes longer than what it saves of so few entries";
  else return {};
  return rows;
}

} // namespace

template <class V>
survey survey_of(const matrix_source<V>& a, const solve_options& o, setup_clock& clock, const matrix<V>* known,
                 const std::function<bool(const stats&)>& few_products) {
  survey s;
  const double deadline = now() + o.time_limit;
  if ((s.refused = interruption(o))) return s;
  const wish w = wish_of(o);
  s.facts = known ? known->facts() : a.measure_sums();
  clock.end("look");
  std::optional<choice> early;
  if (known) early = known->chosen();
  else if (!o.where.is_gpu() && !o.tune)
    early = without_a_look(s.facts, w, o.solver == "auto" ? of_short_runs : of_long_runs, few_products);
  if (!early) {
    a.measure_for_formats(s.facts);
    clock.end("look");
  }
  s.chosen = early ? std::move(*early) : choose(s.facts, precision_of<V>, o.where, w);
  clock.end("choose");
  if (!s.facts.finite) {
    s.refused = refusal_of(odd_one(a));
    return s;
  }
  if ((s.refused = interruption(o))) return s;
  if (o.tune && !known) {
    s.chosen =
        tune_until(a.triplets(), s.facts, o.where, w, [&] { return interruption(o).has_value() || now() > deadline; });
    clock.end("tune");
    if ((s.refused = interruption(o))) return s;
  }
  s.needed = estimate_memory(s.chosen, s.facts, precision_of<V>, o, a.bytes_on_gpu());
  check_memory(s.needed, s.facts, precision_of<V>, o.where, a.bytes_on_gpu());
  if (o.announce) o.announce(s.needed);
  return s;
}

template survey survey_of(const matrix_source<double>&, const solve_options&, setup_clock&, const matrix<double>*,
                          const std::function<bool(const stats&)>&);
template survey survey_of(const matrix_source<float>&, const solve_options&, setup_clock&, const matrix<float>*,
                          const std::function<bool(const stats&)>&);

} // namespace furrow
