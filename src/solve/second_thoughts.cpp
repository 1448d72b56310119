// SPDX-License-Identifier: BSD-3-Clause
#include "second_thoughts.hpp"

#include "core/counted.hpp"
#include "core/host_room.hpp"
#include "core/memory_place.hpp"

#include <furrow/array.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

namespace furrow {
namespace {

/// Of the largest entries of rows, or columns, that have one that is not 0.
struct extremes {
  double least = std::numeric_limits<double>::max(), most = 0;

  void add(double largest) {
    if (largest > 0) least = std::min(least, largest), most = std::max(most, largest);
  }
  double span() const { return most > 0 ? std::log2(most) - std::log2(least) : 0; }
};

/// What the rows of A have.
struct rows_seen {
  double out_of_reach = 0; ///< the norm of b in rows without an entry that is not 0
  extremes rows, columns;  ///< of ranks, which have parts of columns, those of rows alone
};

template <class V> rows_seen look_at_rows(const any_operator<V>& a, cview<V> b) {
  rows_seen seen;
  constexpr double most_places = 4; // bytes of triplets over bytes of the leanest format, a dense one in f32
  const shape2 shape = a.shape();
  if (!host_room().takes(most_places * a.stored_bytes() + double(sizeof(V)) * double(shape.rows + shape.cols)))
    return seen;
  const auto triplets = a.to_triplets();
  if (!triplets) return seen;
  const auto largest_of = [&](const host_array<std::int32_t>& line, index_t lines) {
    std::vector<V> largest(static_cast<std::size_t>(lines), V(0));
    for (index_t k = 0; k < triplets->nnz(); ++k) {
      V& of_line = largest[static_cast<std::size_t>(line[k])];
      of_line = std::max(of_line, std::abs(triplets->val[k]));
    }
    return largest;
  };
  const auto of_rows = largest_of(triplets->row, triplets->shape.rows);
  for (index_t i = 0; i < b.size; ++i) {
    const auto size = double(of_rows[static_cast<std::size_t>(i)]);
    if (size == 0) seen.out_of_reach = std::hypot(seen.out_of_reach, double(b[i]));
    seen.rows.add(size);
  }
  for (const V size : largest_of(triplets->col, triplets->shape.cols)) seen.columns.add(double(size));
  return seen;
}

/// The norm of a vector of which each rank has a part with this norm.
double norm_of_parts(communicator* ranks, double mine) {
  if (!ranks) return mine;
  const double most = ranks->max(mine);
  return most > 0 ? most * std::sqrt(ranks->sum((mine / most) * (mine / most))) : 0;
}

/// The same of all rows, where ranks have some each. Nothing of those of an operator that does not tell its entries.
template <class V> rows_seen look_at_all_rows(const linear_system<V>& system, cview<V> b) {
  rows_seen seen;
  try {
    seen = look_at_rows(system.a, b);
  } catch (const std::bad_alloc&) { // the others talk to this rank
  }
  seen.out_of_reach = norm_of_parts(system.ranks, seen.out_of_reach);
  if (system.ranks) {
    extremes& rows = seen.rows;
    rows.least = -system.ranks->max(-rows.least), rows.most = system.ranks->max(rows.most);
    seen.columns = {};
  }
  return seen;
}

template <class V> double norm_of_all(const linear_system<V>& system, cview<V> b) {
  double norm = 0;
  for (const V v : b) norm = std::hypot(norm, double(v));
  return norm_of_parts(system.ranks, norm);
}

template <class V> host_array<V> at_home(cview<V> there) {
  host_array<V> home(there.size);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, there.data, home.byte_count());
  return home;
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
/// where x, about |b| / |A|, leaves the range itself. None helps rows that are further apart than what is in range.
template <class V> std::string about_squares(double size, double norm_b, double in_range, const rows_seen& seen) {
  const char* const type = is_wide<V> ? "double" : "float";
  const bool by_columns = seen.columns.span() > seen.rows.span();
  const extremes& lines = by_columns ? seen.columns : seen.rows;
  if (lines.most > in_range * lines.least)
    return fmt::format("the largest entry of a {0} is {1:.0e} in one and {2:.0e} in another, and the squares of such "
                       "values overflow or vanish in {3}; divide each {0} of A and its element of {4} by the largest "
                       "entry of the {0}",
                       by_columns ? "column" : "row", lines.least, lines.most, type,
                       by_columns ? "the x that this gives" : "b");
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
  if (!system.ranks && system.a.shape().rows != system.a.shape().cols) return;
  if (!failed(report, o)) return;
  if (!place_of(b.data).host) {
    const host_array<V> home = at_home(b);
    return find_the_cause(report, system, as_cview(home), o);
  }
  // Of sums of squares of A x, and of A x itself in single precision, which keeps squares in double.
  constexpr double most = is_wide<V> ? 1e140 : 1e33;
  const double size = system.norm_2, norm_b = norm_of_all(system, b);
  const std::string found =
      std::isfinite(report.relative_residual) ? fmt::format("{:.3e}", report.relative_residual) : std::string();
  if (size > 0 && (size > most || size < 1 / most)) {
    const std::string residual = found.empty() ? "" : " with a relative residual of " + found;
    report.message = fmt::format("{} after {}{}: {}", report.why == status::nan ? "the numbers are not finite" : "left",
                                 counted(report.iterations, "iteration"), residual,
                                 about_squares<V>(size, norm_b, most, look_at_all_rows(system, b)));
    return;
  }
  if (report.why == status::singular) return; // that is said already
  const double least = look_at_all_rows(system, b).out_of_reach;
  if (!(least > std::max(o.rtol * norm_b, o.atol))) return;
  report.why = status::singular;
  report.message = fmt::format("the system has no answer: b is not 0 in rows of A without an entry, so that no x has a "
                               "smaller relative residual than {:.3e}; after {} {}",
                               least / norm_b, counted(report.iterations, "iteration"),
                               found.empty() ? "the numbers overflow" : "it is " + found);
}

template void find_the_cause(solve_report&, const linear_system<double>&, cview<double>, const solve_options&);
template void find_the_cause(solve_report&, const linear_system<float>&, cview<float>, const solve_options&);

} // namespace furrow
