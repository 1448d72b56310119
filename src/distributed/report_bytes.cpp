// SPDX-License-Identifier: BSD-3-Clause
#include "report_bytes.hpp"

#include <furrow/error.hpp>

#include <cstring>
#include <type_traits>
#include <vector>

namespace furrow {
namespace {

/// Every member, in one order for both ways.
template <class Way, class R> void each_member(Way& way, R& r) {
  way(r.why), way(r.message), way(r.iterations), way(r.restarts), way(r.inner_iterations);
  way(r.relative_residual), way(r.normal_residual), way(r.condition_estimate), way(r.smallest_ritz);
  way(r.largest_ritz), way(r.error_estimate), way(r.warning), way(r.setup_seconds), way(r.solve_seconds);
  way(r.setup_parts), way(r.bytes_per_iteration), way(r.product_bytes), way(r.stored_bytes), way(r.waits);
  way(r.solver), way(r.precond), way(r.precond_about), way(r.levels);
  way(r.factor_entries_expected), way(r.factor_bytes_expected), way(r.factor_entries), way(r.factor_bytes);
  way(r.factors_at_most), way(r.format), way(r.kernel), way(r.reason), way(r.scale), way(r.reorder);
  way(r.arranged_about), way(r.matrix_about), way(r.untried), way(r.rungs), way(r.history), way(r.history_seconds);
}
template <class Way, class P>
requires std::is_same_v<std::remove_const_t<P>, setup_part>
void each_member_of(Way& way, P& p) { way(p.what), way(p.seconds); }
template <class Way, class L>
requires std::is_same_v<std::remove_const_t<L>, multigrid_level>
void each_member_of(Way& way, L& l) { way(l.rows), way(l.entries), way(l.bytes), way(l.seconds), way(l.parts); }
template <class Way, class R>
requires std::is_same_v<std::remove_const_t<R>, solve_rung>
void each_member_of(Way& way, R& r) {
  way(r.solver), way(r.precond), way(r.where), way(r.reason), way(r.outcome), way(r.why), way(r.iterations);
  way(r.relative_residual), way(r.setup_seconds), way(r.solve_seconds);
}

struct writer {
  std::string bytes;

  template <class T> void operator()(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    else each_member_of(*this, value);
  }
  void operator()(const std::string& text) {
    (*this)(index_t(text.size()));
    bytes += text;
  }
  template <class T> void operator()(const std::vector<T>& list) {
    (*this)(index_t(list.size()));
    for (const T& one : list) (*this)(one);
  }
};

struct reader {
  const std::string& bytes;
  std::size_t at = 0;

  const char* next(std::size_t count) {
    require(count <= bytes.size() - at, "a report of another rank is whole");
    return bytes.data() + std::exchange(at, at + count);
  }
  template <class T> void operator()(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) std::memcpy(&value, next(sizeof value), sizeof value);
    else each_member_of(*this, value);
  }
  void operator()(std::string& text) {
    index_t size = 0;
    (*this)(size);
    text.assign(next(static_cast<std::size_t>(size)), static_cast<std::size_t>(size));
  }
  template <class T> void operator()(std::vector<T>& list) {
    index_t size = 0;
    (*this)(size);
    list.resize(static_cast<std::size_t>(size));
    for (T& one : list) (*this)(one);
  }
};

} // namespace

std::string bytes_of_report(const solve_report& r) {
  writer way;
  each_member(way, r);
  return std::move(way.bytes);
}

solve_report report_of_bytes(const std::string& bytes) {
  solve_report r;
  reader way{bytes};
  each_member(way, r);
  return r;
}

} // namespace furrow
