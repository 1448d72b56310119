// SPDX-License-Identifier: BSD-3-Clause
#include "amg_on_gpus.hpp"

#include "coarsening.hpp"
#include "gpu_gathered.hpp"
#include "gpu_kit.hpp"
#include "gpu_level.hpp"

#include "backends/gpu/ranks_space.hpp"
#include "core/clock.hpp"
#include "distributed/together.hpp"

#include <memory>
#include <utility>

namespace furrow {
namespace amg_gpus {

using namespace amg;

/// to = from / scale, in another precision.
template <class From, class To> struct divide {
  static constexpr int reads = 1, writes = 1;
  cview<From> from;
  view<To> to;
  double scale;
  FURROW_HD void load() {}
  FURROW_HD From at(index_t i) const { return from[i]; }
  FURROW_HD void operator()(index_t i, From value, sums<0>) const { to[i] = static_cast<To>(double(value) / scale); }
};

/// M on a rank, in the precision W.
template <class V, class W> class multigrid_on_gpus final : public any_preconditioner<V> {
public:
  multigrid_on_gpus(communicator& c, gpu::link& between, kit_on_gpus& kit, int degree, index_t gathered)
      : c_(c), between_(between), degree_(degree), squares_(gpu::space<V>().make_slots(1)) {
    while (kit.unknowns() > gathered && take_level(kit)) {
    }
    if (!ends_smoothed_) gather(kit);
    about_ = sentence_of_ranks(facts_, {degree_, c_.size(), levels_.size(), 8 * sizeof(W), last_ ? last_->rows() : 0});
  }

  void apply(cview<V> r, view<V> z) const override {
    gpu::space<V> space;
    if (levels_.empty()) {
      space.sweep(r.size, divide<V, double>{r, last_->b(), 1});
      last_->solve();
      space.sweep(z.size, divide<double, V>{last_->x(), z, 1});
      return;
    }
    gpu::ranks_space<V>(&between_).dot(r, r, slot{squares_.data()});
    space.sweep(r.size, gpu_cycle::narrow<V, W>{squares_.data(), r, levels_[0]->b()});
    visit(0);
    space.sweep(z.size, gpu_cycle::widen<V, W>{squares_.data(), scale_, levels_[0]->x(), z});
  }
  bool waits() const override { return between_.waits(); }
  double stored_bytes() const override {
    double bytes = last_ ? last_->m().stored_bytes() : 0;
    for (const auto& l : levels_) bytes += l->stored_bytes();
    return bytes;
  }
  std::string describe() const override { return about_; }
  std::vector<multigrid_level> levels() const override { return facts_; }

private:
  /// Makes a level of the kit's matrix, and goes down; false where there is no way.
  bool take_level(kit_on_gpus& kit) {
    const double began = now();
    const level_outlook l = way_down(c_, kit, levels_.size());
    if (levels_.empty()) scale_ = l.diagonal.scale();
    level_of_rank<W> kept;
    together(c_, [&] { kept = kit.keep<W>(scale_, l.lambda); });
    levels_.push_back(std::make_unique<level_on_gpus<W>>(between_, std::move(kept)));
    if (l.shrinks) kit.go_down();
    else ends_smoothed_ = true;
    const double bytes = c_.sum(levels_.back()->stored_bytes()), seconds = c_.max(now() - began);
    facts_.push_back({l.unknowns, l.entries, bytes, seconds, kit.take_parts()});
    return l.shrinks;
  }

  void gather(kit_on_gpus& kit) {
    const double began = now();
    coo<double> mine;
    together(c_, [&] { mine = brought_home(kit.rows()); });
    const coo<double> whole = gather_rows(c_, mine, kit.rows().begins);
    std::unique_ptr<any_preconditioner<double>> m;
    together(c_, [&] {
      m = make_preconditioner<double>(name_of_gathered(degree_), whole, c_.where(),
                                      {.a = {true, true}, .m = {true, true}});
    });
    last_ = std::make_unique<gathered_level>(c_, between_, kit.rows().begins, std::move(m));
    coarse_x_ = gpu_array<W>(last_->x().size);
    for (const multigrid_level& l : last_->m().levels()) facts_.push_back(l);
    if (facts_.size() > levels_.size()) facts_[levels_.size()].seconds = c_.max(now() - began);
  }

  void visit(std::size_t k) const {
    level_on_gpus<W>& l = *levels_[k];
    const bool lowest = k + 1 == levels_.size();
    if (lowest && !last_) return l.smooth_from_zero(most_degree);
    l.smooth_from_zero(degree_);
    if (lowest) {
      l.restrict_to(last_->b());
      last_->solve();
      gpu::space<W>().sweep(coarse_x_.size(), divide<double, W>{last_->x(), as_view(coarse_x_), scale_});
      l.add_prolonged(as_cview(coarse_x_)); // levels before are of A times the scale
    } else {
      l.restrict_to(levels_[k + 1]->b());
      visit(k + 1);
      l.add_prolonged(levels_[k + 1]->x());
    }
    l.smooth(degree_);
  }

  communicator& c_;
  gpu::link& between_;
  int degree_;
  double scale_ = 1; ///< a power of two: of A on the levels
  bool ends_smoothed_ = false;
  std::vector<std::unique_ptr<level_on_gpus<W>>> levels_;
  std::unique_ptr<gathered_level> last_; ///< null: the last of those is smoothed only
  std::vector<multigrid_level> facts_;
  std::string about_;
  mutable gpu_array<double> squares_; ///< r'r
  mutable gpu_array<W> coarse_x_;     ///< of the gathered level
};

} // namespace amg_gpus

template <class V>
std::unique_ptr<any_preconditioner<V>> amg_on_gpus(communicator& c, rank_device& gpu, rows_of_gpu<V> rows, int degree,
                                                   index_t gathered) {
  amg::rows_there there;
  together(c, [&] {
    amg::join(rows, there);
    there.first = rows.begins[static_cast<std::size_t>(c.rank())];
    there.begins = std::move(rows.begins), there.plan = std::move(rows.plan);
    rows = {};
  });
  amg::kit_on_gpus kit(c, gpu.between(), std::move(there));
  if (fits_single(over_ranks(c, kit.extremes())))
    return std::make_unique<amg_gpus::multigrid_on_gpus<V, float>>(c, gpu.between(), kit, degree, gathered);
  return std::make_unique<amg_gpus::multigrid_on_gpus<V, double>>(c, gpu.between(), kit, degree, gathered);
}

template std::unique_ptr<any_preconditioner<double>> amg_on_gpus(communicator&, rank_device&, rows_of_gpu<double>, int,
                                                                 index_t);
template std::unique_ptr<any_preconditioner<float>> amg_on_gpus(communicator&, rank_device&, rows_of_gpu<float>, int,
                                                                index_t);

} // namespace furrow
