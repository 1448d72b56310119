// SPDX-License-Identifier: BSD-3-Clause
#include "scaled.hpp"

#include "diagonal_scaling.hpp"
#include "lu/condition.hpp"
#include "lu/factor_size.hpp"
#include "lu/inverse.hpp"
#include "new_values.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"

#include <furrow/storage.hpp>

#include <fmt/format.h>

#include <cmath>
#include <type_traits>
#include <utility>

namespace furrow {
namespace {

template <class V> using scales_of = std::shared_ptr<const diagonal_scales<V>>;

/// R A C.
template <class V> coo<V> scaled_triplets(const coo<V>& a, const diagonal_scales<V>& s) {
  coo<V> b = a;
  cpu::for_each_range(b.nnz(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      b.val[k] = static_cast<V>(double(s.row[b.row[k]]) * double(b.val[k]) * double(s.col[b.col[k]]));
  });
  return b;
}

/// M = C N R, where N is no diagonal.
template <class V, class Array>
class scaled_preconditioner final : public any_preconditioner<V>, public lu::tells_factor_size {
public:
  scaled_preconditioner(std::unique_ptr<any_preconditioner<V>> inner, const coo<V>& a, const diagonal_scales<V>& s)
      : inner_(std::move(inner)), row_(s.row), col_(s.col), before_(s.row.size()), after_(on_gpu ? s.row.size() : 0) {
    estimate(a, s);
  }

  void apply(cview<V> r, view<V> z) const override {
    if constexpr (on_gpu) {
      scale_on_gpu<V>(as_cview(row_), r, as_view(before_));
      inner_->apply(as_cview(before_), as_view(after_));
      scale_on_gpu<V>(as_cview(col_), as_cview(after_), z);
    } else {
      cpu::space<V>{}.sweep(r.size, scale_step<V>{as_cview(row_), r, as_view(before_)});
      inner_->apply(as_cview(before_), z);
      cpu::for_each_range(z.size, 1 << 14, [&](index_t first, index_t last) {
        for (index_t i = first; i < last; ++i) z[i] *= col_[i];
      });
    }
  }
  bool waits() const override { return inner_->waits(); }
  condition_numbers condition() const override { return condition_; }
  double stored_bytes() const override {
    return inner_->stored_bytes() +
           double(row_.byte_count() + col_.byte_count() + before_.byte_count() + after_.byte_count());
  }
  std::string describe() const override { return inner_->describe(); }
  std::vector<multigrid_level> levels() const override { return inner_->levels(); }
  lu::factor_size size_of_factors() const override { return lu::factor_size_of(*inner_); }

  std::unique_ptr<any_preconditioner<V>> take_inner() { return std::move(inner_); }

private:
  static constexpr bool on_gpu = !std::is_same_v<Array, host_array<V>>;

  /// N knows what it is to R A C; what counts for x is A.
  void estimate(const coo<V>& a, const diagonal_scales<V>& s) {
    const auto* const inverse = dynamic_cast<const lu::inverse<V>*>(inner_.get());
    if (!inverse) return;
    condition_ = lu::condition_of(a, [&](double* x, double* y, bool transposed) {
      const auto scale = [](double* v, const host_array<V>& by) {
        for (index_t i = 0; v && i < by.size(); ++i) v[i] *= double(by[i]);
      };
      const auto &first = transposed ? s.col : s.row, &last = transposed ? s.row : s.col;
      scale(x, first), scale(y, first);
      inverse->solve(x, y, transposed);
      scale(x, last), scale(y, last);
    });
  }

  std::unique_ptr<any_preconditioner<V>> inner_;
  Array row_, col_;
  mutable Array before_, after_; ///< the second one on a GPU alone
  condition_numbers condition_;
};

/// The entries of a diagonal N in host memory.
template <class V> host_array<V> entries_of(const any_preconditioner<V>& n, device where, index_t size) {
  host_array<V> d(size, V(1));
  if (n.what() == any_preconditioner<V>::kind::identity) return d;
  const cview<V> from = n.diagonal();
  if (where.is_gpu()) copy_bytes(host_memory{}, d.data(), gpu_memory{}, from.data, d.byte_count());
  else std::copy(from.begin(), from.end(), d.begin());
  return d;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> around(std::unique_ptr<any_preconditioner<V>> n, const coo<V>& a, device where,
                                              const diagonal_scales<V>& s) {
  if (n->what() == any_preconditioner<V>::kind::general) {
    if (where.is_gpu()) return std::make_unique<scaled_preconditioner<V, gpu_array<V>>>(std::move(n), a, s);
    return std::make_unique<scaled_preconditioner<V, host_array<V>>>(std::move(n), a, s);
  }
  host_array<V> d = entries_of(*n, where, s.row.size());
  for (index_t i = 0; i < d.size(); ++i) {
    d[i] = static_cast<V>(double(s.row[i]) * double(d[i]) * double(s.col[i]));
    if (!std::isfinite(d[i]) || d[i] == 0)
      throw refusal{status::breakdown, fmt::format("the scales of row {} and its column make the "
                                                   "preconditioner {} there, out of the range of this precision",
                                                   i + 1, d[i] == 0 ? "0" : "infinite")};
  }
  return make_diagonal_scaling(std::move(d), where);
}

} // namespace

bool may_be_scaled(std::string_view precond) { return take_apart(precond).name != "amg"; }

template <class V>
std::unique_ptr<any_preconditioner<V>> make_scaled_preconditioner(std::string_view name, const coo<V>& a, device where,
                                                                  solver_needs needed, scales_of<V> scales) {
  check(scales->symmetric || !needed.m.symmetric, fault::usage,
        "the solver needs a symmetric preconditioner, which one that is scaled by matching is not: take symmetric "
        "scaling, or another solver, bicgstab for one");
  return around(make_preconditioner<V>(name, scaled_triplets(a, *scales), where, needed), a, where, *scales);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> renew_scaled(std::unique_ptr<any_preconditioner<V>> m, const coo<V>& a,
                                                    solver_needs needed, scales_of<V> scales) {
  auto* const kept = dynamic_cast<scaled_preconditioner<V, host_array<V>>*>(m.get());
  if (!kept) return nullptr;
  auto inner = kept->take_inner();
  auto* const renewable = dynamic_cast<takes_new_values<V>*>(inner.get());
  if (!renewable || !renewable->update(scaled_triplets(a, *scales), needed)) return nullptr;
  return around(std::move(inner), a, {}, *scales);
}

#define FURROW_SCALED(V)                                                                                               \
  template std::unique_ptr<any_preconditioner<V>> make_scaled_preconditioner(std::string_view, const coo<V>&, device,  \
                                                                             solver_needs, scales_of<V>);              \
  template std::unique_ptr<any_preconditioner<V>> renew_scaled(std::unique_ptr<any_preconditioner<V>>, const coo<V>&,  \
                                                               solver_needs, scales_of<V>);
FURROW_SCALED(double)
FURROW_SCALED(float)
#undef FURROW_SCALED

} // namespace furrow
