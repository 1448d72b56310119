// SPDX-License-Identifier: BSD-3-Clause
#include "survey.hpp"

#include "memory.hpp"

#include "core/clock.hpp"

#include <furrow/tune.hpp>

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

template <class V>
survey survey_of(const matrix_source<V>& a, const solve_options& o, setup_clock& clock, const matrix<V>* known) {
  survey s;
  if ((s.refused = interruption(o))) return s;
  s.facts = known ? known->facts() : a.measure();
  clock.end("look");
  const wish w = wish_of(o);
  s.chosen = known ? known->chosen() : choose(s.facts, precision_of<V>, o.where, w);
  clock.end("choose");
  if (!s.facts.finite) {
    s.refused = refusal{status::nan, "iteration 0: the matrix holds a NaN or an infinity"};
    return s;
  }
  if ((s.refused = interruption(o))) return s;
  if (o.tune && !known) s.chosen = tune(a.triplets(), s.facts, o.where, w), clock.end("tune");
  s.needed = estimate_memory(s.chosen, s.facts, precision_of<V>, o, a.bytes_on_gpu());
  check_memory(s.needed, s.facts, precision_of<V>, o.where, a.bytes_on_gpu());
  if (o.announce) o.announce(s.needed);
  return s;
}

template survey survey_of(const matrix_source<double>&, const solve_options&, setup_clock&, const matrix<double>*);
template survey survey_of(const matrix_source<float>&, const solve_options&, setup_clock&, const matrix<float>*);

} // namespace furrow
