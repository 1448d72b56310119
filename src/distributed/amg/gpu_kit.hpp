// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_rows.hpp"
#include "way_down.hpp"

#include "preconditioners/amg/gpu_setup.hpp"
#include "solve/setup_clock.hpp"

#include <string_view>
#include <vector>

namespace furrow::amg {

/// A level as a rank keeps it: between its own elements, and what couples them to those of others.
template <class W> struct level_of_rank {
  level<W, gpu_array> near;
  far_rows<W> a, p, r;
  halo_plan plan, way; ///< of the level's elements, and of those of the next one that P needs
};

/// See way_down: a level's rows on the GPU of a rank.
class kit_on_gpus {
public:
  kit_on_gpus(communicator& c, gpu::link& between, rows_there rows)
      : c_(c), between_(between), rows_(std::move(rows)) {}

  const rows_there& rows() const { return rows_; }
  index_t unknowns() const { return rows_.unknowns(); }
  index_t entries() const { return rows_.a.val.size(); }
  diagonal_extremes extremes();
  double look();
  bool coarsen(double theta, double omega, double most);
  index_t coarse_unknowns() const { return coarse_.begins.back(); }
  index_t coarse_entries() const { return coarse_entries_; }

  /// A times the scale, D^-1 by it, and where the level shrinks P and R: takes them.
  template <class W> level_of_rank<W> keep(double scale, double lambda);
  /// R A P is the matrix from here on; without it there is none.
  void go_down();
  /// What took how long since they were taken before: each part ends when the GPU is done with it.
  std::vector<setup_part> take_parts() { return clock_.take(); }

private:
  void ends(std::string_view part);
  double largest_ritz_bound(double most) const;
  void prolong(device_aggregates found, const host_array<std::int32_t>& numbers, double theta, double omega,
               columns_there& names);
  device_matrix multiply(const loose_rows_there& others, columns_there& names);

  communicator& c_;
  gpu::link& between_;
  gpu::memory_kept kept_;
  rows_there rows_, coarse_;
  gpu_array<std::int32_t> rows_sent_; ///< of the plan of `rows_`
  device_matrix own_;                 ///< `rows_.a` without `rows_.far`, where Lanczos asks for it
  device_matrix p_, r_;               ///< p_: own aggregates first; r_: of own rows alone
  far_rows<double> far_r_;
  halo_plan way_; ///< of p_'s columns
  gpu_array<double> diagonal_, inverse_;
  gpu_array<double> scale_; ///< |A_jj|^-1/2, also of the elements of others
  index_t coarse_entries_ = 0;
  setup_clock clock_;
};

} // namespace furrow::amg
