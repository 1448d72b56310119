// SPDX-License-Identifier: BSD-3-Clause
#include "host_factors.hpp"

#include "stop.hpp"

#include <algorithm>

namespace furrow {
namespace {

/// Of a level on an H200, and of each entry of its rows, read one behind the other: 1.4 to 1.7 us for two entries a
/// row, 2.8 for 8, 4.5 for 12.
constexpr double a_level = 0.8e-6, an_entry_of_a_level = 0.3e-6;
/// Of an entry of the factors, and of an element of some 30 vectors, on two cores.
constexpr double an_entry = 2e-9, a_row = 15e-9;
/// Times as long a step may take on a GPU, whose products and vectors take next to nothing.
constexpr double in_favour = 1.5;

template <class V> double chain_seconds(const row_matrix<V>& t, triangle side) {
  const index_t n = t.shape.rows;
  if (n == 0) return 0;
  stops_set_up::at_row(0);
  const auto level = levels_of(t, side);
  const double levels = 1 + *std::ranges::max_element(level);
  return levels * (a_level + an_entry_of_a_level * double(t.nnz()) / double(n));
}

} // namespace

template <class V> step_seconds expected_step(const row_matrix<V>& lower, const row_matrix<V>& upper) {
  return {chain_seconds(lower, triangle::lower) + chain_seconds(upper, triangle::upper),
          an_entry * double(lower.nnz() + upper.nnz()) + a_row * double(lower.shape.rows)};
}

lets_factors_stay*& lets_factors_stay::current() {
  thread_local lets_factors_stay* one = nullptr;
  return one;
}

template <class V> bool lets_factors_stay::decide(const row_matrix<V>& lower, const row_matrix<V>& upper) {
  if (!current()) return false;
  const step_seconds s = expected_step(lower, upper);
  return current()->stayed_ = s.gpu > in_favour * s.host;
}

template step_seconds expected_step(const row_matrix<double>&, const row_matrix<double>&);
template step_seconds expected_step(const row_matrix<float>&, const row_matrix<float>&);
template bool lets_factors_stay::decide(const row_matrix<double>&, const row_matrix<double>&);
template bool lets_factors_stay::decide(const row_matrix<float>&, const row_matrix<float>&);

} // namespace furrow
