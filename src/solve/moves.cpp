// SPDX-License-Identifier: BSD-3-Clause
#include "moves.hpp"

#include "run.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <array>

namespace furrow {
namespace {

/// to[k] = from[order[k]], and back.
template <class V> void gather(cview<V> from, const host_array<std::int32_t>& order, view<V> to) {
  cpu::for_each_range(order.size(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) to[k] = from[order[k]];
  });
}
template <class V> void put_back(cview<V> from, const host_array<std::int32_t>& order, view<V> to) {
  cpu::for_each_range(order.size(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) to[order[k]] = from[k];
  });
}

} // namespace

bool names_rows(const std::string& message) {
  return std::ranges::any_of(std::array{"row ", "column ", "diagonal entry ", "pivot "},
                             [&](const char* word) { return message.find(word) != std::string::npos; });
}

template <class V>
std::vector<solve_report> solve_moved(const system_moves& moves, cview<V> b, view<V> x, index_t columns,
                                      const std::function<std::vector<solve_report>(cview<V>, view<V>)>& solve) {
  const index_t n = moves.row.size();
  host_array<V> moved_b(b.size), moved_x(x.size);
  std::vector<std::string> wrong; // by the caller's numbers
  for (index_t j = 0; j < columns; ++j) {
    const cview<V> one_b = part(b, j * n, n), one_x = part(as_cview(x), j * n, n);
    wrong.push_back(not_finite(one_b, "b"));
    if (wrong.back().empty()) wrong.back() = not_finite(one_x, "the first guess");
    gather(one_b, moves.row, part(as_view(moved_b), j * n, n));
    gather(one_x, moves.column, part(as_view(moved_x), j * n, n));
  }
  auto reports = solve(as_cview(moved_b), as_view(moved_x));
  for (index_t j = 0; j < columns; ++j) {
    put_back<V>(part(as_cview(moved_x), j * n, n), moves.column, part(x, j * n, n));
    solve_report& report = reports[static_cast<std::size_t>(j)];
    if (report.why == status::nan && !wrong[static_cast<std::size_t>(j)].empty())
      report.message = wrong[static_cast<std::size_t>(j)];
    else if (report.why != status::nan && names_rows(report.message))
      report.message += "; rows and columns are numbered as they were moved";
  }
  return reports;
}

void tell_in_order(solve_options& o, const system_moves& moves) {
  if (!moves) return;
  tell_of(o, [&moves](cview<double> moved) {
    host_array<double> own(moved.size);
    put_back(moved, moves.column, as_view(own));
    return own;
  });
}

template std::vector<solve_report>
solve_moved(const system_moves&, cview<double>, view<double>, index_t,
            const std::function<std::vector<solve_report>(cview<double>, view<double>)>&);
template std::vector<solve_report>
solve_moved(const system_moves&, cview<float>, view<float>, index_t,
            const std::function<std::vector<solve_report>(cview<float>, view<float>)>&);

} // namespace furrow
