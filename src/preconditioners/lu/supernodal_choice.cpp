// SPDX-License-Identifier: BSD-3-Clause
#include "supernodal_choice.hpp"

#include "column_lu.hpp"
#include "matched.hpp"
#include "order_choice.hpp"
#include "supernodal_lu.hpp"

#include <furrow/error.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace furrow::lu {

/// Operations for each entry of the factors tell: panels take two thirds of SuperLU's time at 50 of them and a third at
/// 200, and as much at 11 (memplus); of `column_lu`, whose factors fit a cache, as much at 100 to 150 and nine tenths
/// at 165.
bool supernodal_choice::pays(const fill_forecast& f) const {
  return asked_ || f.operations >= (a_.n <= columns_one_by_one ? 160 : 20) * f.size.expected;
}

namespace {

/// Memory that is not there is no end where others may take less.
template <class Make> std::unique_ptr<factors> within_memory(bool asked, std::string& why, const Make& make) {
  try {
    return make();
  } catch (const error& e) {
    if (asked || e.kind != fault::memory) throw;
    why = "those by supernodes would take more memory than there is";
    return nullptr;
  }
}

} // namespace

std::unique_ptr<factors> supernodal_choice::as_it_stands(const fill_forecast& f) {
  if (never_ || !pays(f)) return nullptr;
  if (f.operations > operations_) refuse_operations(operations_);
  auto made =
      within_memory(asked_, why_, [&] { return factor_supernodal(a_, f.place, budget_, {.exact = !asked_}, why_); });
  if (made) made->work = f.operations / faster_by_panels;
  return made;
}

std::unique_ptr<factors> supernodal_choice::arranged(const arranged_columns& to, const columns& pattern, double most) {
  column_order order;
  const double limit = std::min(most, operations_);
  try {
    const fill_forecast f =
        count_best_order(pattern, order, {wish_, limit, operations_of_supernodes, 2, std::isinf(operations_)}, budget_,
                         [&](const host_array<std::int32_t>& place) { return forecast_fill(pattern, place, true); });
    if (!pays(f)) return nullptr;
    if (f.operations > limit) refuse_operations(limit);
    auto made = within_memory(asked_, why_, [&] {
      return factor_supernodal(a_, f.place, budget_, {.exact = !asked_, .arranged = &to, .pattern = &pattern}, why_);
    });
    if (made) made->dissected = order.dissected, made->work = f.operations / faster_by_panels;
    return made;
  } catch (const refusal& r) { // whoever is told to stop is told so again
    if (asked_ || r.why != status::max_iterations) throw;
    return nullptr;
  }
}

std::unique_ptr<factors> supernodal_choice::with_pairs(double most) {
  if (never_) return nullptr;
  const paired_columns pairs = match_pairs(a_);
  return arranged(pairs.scaled, pairs.pattern, most);
}

std::unique_ptr<factors> supernodal_choice::with_moved_rows(double most) {
  if (never_) return nullptr;
  const arranged_columns moved = match_rows(a_);
  return arranged(moved, moved.a, most);
}

std::unique_ptr<factors> supernodal_choice::by_name(column_order order) {
  if (has_weak_diagonal(a_)) return is_mirrored(a_) ? with_pairs(operations_) : with_moved_rows(operations_);
  const fill_forecast f =
      count_best_order(a_, order, {wish_, operations_, operations_of_supernodes, 2}, budget_,
                       [&](const host_array<std::int32_t>& place) { return forecast_fill(a_, place, true); });
  auto made = as_it_stands(f);
  if (made) made->dissected = order.dissected;
  return made;
}

} // namespace furrow::lu
