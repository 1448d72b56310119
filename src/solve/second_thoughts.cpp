// SPDX-License-Identifier: BSD-3-Clause
#include "second_thoughts.hpp"

#include "core/counted.hpp"
#include "core/host_room.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

/// The norm of b in rows of A without an entry that is not 0; 0 where the operator does not tell its entries.
template <class V> double norm_out_of_reach(const any_operator<V>& a, cview<V> b) {
  constexpr double most_places = 4; // bytes of triplets over bytes of the leanest format, a dense one in f32
  if (!host_room().takes(most_places * a.stored_bytes() + double(b.size))) return 0;
  const auto triplets = a.to_triplets();
  if (!triplets) return 0;
  std::vector<char> reached(static_cast<std::size_t>(b.size), 0);
  for (index_t k = 0; k < triplets->nnz(); ++k)
    if (triplets->val[k] != V(0)) reached[static_cast<std::size_t>(triplets->row[k])] = 1;
  double norm = 0;
  for (index_t i = 0; i < b.size; ++i)
    if (!reached[static_cast<std::size_t>(i)]) norm = std::hypot(norm, double(b[i]));
  return norm;
}

/// Whether the iteration did what it could and failed; a limit that the caller set is no failure.
bool failed(const solve_report& r, const solve_options& o) {
  switch (r.why) {
  case status::stagnated:
  case status::breakdown:
  case status::diverged:
  case status::nan:
  case status::singular:
    return true;
  case status::max_iterations:
    return o.max_iterations == 0 && r.solve_seconds < o.time_limit;
  default:
    return false;
  }
}

/// Powers of two for values whose squares leave the range of V: one for A and b where that is enough, and one for each
/// where x, about |b| / |A|, leaves the range itself.
template <class V> std::string about_squares(double size, double norm_b) {
  const char* const type = is_wide<V> ? "double" : "float";
  // The sum of a row may be beyond all numbers where its entries are not.
  const int of_a = std::ilogb(std::min(size, std::numeric_limits<double>::max()));
  const int of_x = norm_b > 0 && std::isfinite(norm_b) ? std::ilogb(norm_b) - of_a : 0;
  constexpr int most = is_wide<V> ? 1000 : 120;
  if (of_x > most || of_x < -most)
    return fmt::format("|A| is about 2^{} and |b| about 2^{}, so that x is too {} for {}; multiply A by 2^{} and b by "
                       "2^{}, which makes x 2^{} times as large",
                       of_a, of_a + of_x, of_x > 0 ? "large" : "small", type, -of_a, -of_a - of_x, -of_x);
  const std::string about = std::isfinite(size) ? fmt::format("is about {:.0e}", size) : "is beyond the largest number";
  return fmt::format("|A| {}, and the squares of such values {} in {}; multiply A and b by 2^{}", about,
                     size > 1 ? "overflow" : "vanish", type, -of_a);
}

} // namespace

template <class V>
void find_the_cause(solve_report& report, const linear_system<V>& system, cview<V> b, const solve_options& o) {
  const shape2 shape = system.a.shape();
  if (shape.rows != shape.cols || system.ranks || !failed(report, o)) return;
  // Of sums of squares of A x, and of A x itself in single precision, which keeps squares in double.
  constexpr double most = is_wide<V> ? 1e140 : 1e33;
  const double size = system.norm_2;
  double norm_b = 0;
  for (const V v : b) norm_b = std::hypot(norm_b, double(v));
  if (size > 0 && (size > most || size < 1 / most)) {
    const std::string residual = std::isnan(report.relative_residual)
                                     ? ""
                                     : fmt::format(" with a relative residual of {:.3e}", report.relative_residual);
    report.message = fmt::format("{} after {}{}: {}", report.why == status::nan ? "the numbers are not finite" : "left",
                                 counted(report.iterations, "iteration"), residual, about_squares<V>(size, norm_b));
    return;
  }
  if (report.why == status::singular || report.why == status::nan) return; // that is said already
  const double least = norm_out_of_reach(system.a, b);
  if (!(least > std::max(o.rtol * norm_b, o.atol))) return;
  report.why = status::singular;
  report.message = fmt::format("the system has no answer: b is not 0 in rows of A without an entry, so that no x has a "
                               "smaller relative residual "
                               "than {:.3e}; after {} it is {:.3e}",
                               least / norm_b, counted(report.iterations, "iteration"), report.relative_residual);
}

template void find_the_cause(solve_report&, const linear_system<double>&, cview<double>, const solve_options&);
template void find_the_cause(solve_report&, const linear_system<float>&, cview<float>, const solve_options&);

} // namespace furrow
