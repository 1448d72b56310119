// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "together.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace furrow {

/// M of a rank's own block, block Jacobi over the ranks: z = M r for its parts of the vectors, nobody waits. All ranks
/// say the same of what M is, also those without rows.
template <class V> class block_of_rank final : public any_preconditioner<V> {
  using kind = typename any_preconditioner<V>::kind;

public:
  /// `own` null: the rank has no rows. All ranks call it.
  block_of_rank(communicator& c, std::unique_ptr<any_preconditioner<V>> own)
      : own_(std::move(own)), on_gpu_(c.where().is_gpu()) {
    constexpr int nothing = -1;
    int common = nothing;
    for (const int k : gather_each(c, own_ ? int(own_->what()) : nothing)) {
      if (k == nothing) continue;
      common = common == nothing || common == k ? k : int(kind::general);
    }
    what_ = common == nothing ? kind::identity : kind(common);
  }

  void apply(cview<V> r, view<V> z) const override {
    if (!own_) return;
    if (own_->what() != kind::identity) own_->apply(r, z);
    else if (on_gpu_) gpu_memory::copy(z.data, r.data, sizeof(V) * static_cast<std::size_t>(r.size));
    else std::copy(r.begin(), r.end(), z.begin());
  }
  bool waits() const override { return own_ && own_->waits(); }
  kind what() const override { return what_; }
  cview<V> diagonal() const override { return own_ ? own_->diagonal() : cview<V>{}; }
  double stored_bytes() const override { return own_ ? own_->stored_bytes() : 0; }

private:
  std::unique_ptr<any_preconditioner<V>> own_;
  bool on_gpu_;
  kind what_ = kind::identity;
};

} // namespace furrow
