// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab_resident.hpp"

#include "solvers/cg_resident/entry.hpp"

namespace furrow::resident::stabilised {

#if !FURROW_HAS_GPU
template <class V> std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>&, device) { no_gpu_part(); }
template <class V> solve_report run(const linear_system<V>&, const solve_options&) { no_gpu_part(); }
#endif

namespace {

struct bicgstab_on_chip {
  static constexpr names who = bicgstab_names;
  static constexpr vectors_kept kept = layout;
  static constexpr std::string_view fitting = "jacobi or none";
  template <class V> static bool applies(const any_preconditioner<V>&) { return false; }
  static constexpr int words = 2;
  static constexpr index_t vectors = 8; ///< those of bicgstab
  template <class V>
  static std::unique_ptr<solver_keeps> keep(const coo<V>& a, const any_preconditioner<V>&, device where) {
    return keep_on_chip(a, where);
  }
  template <class V> static solve_report solve(const linear_system<V>& s, const solve_options& o) { return run(s, o); }
};

} // namespace
} // namespace furrow::resident::stabilised

namespace furrow::bicgstab_resident_solver {

extern const solver_entry entry = resident::entry_of<resident::stabilised::bicgstab_on_chip>(
    "bicgstab in one kernel, for systems that fit on the chip of a GPU", {});

} // namespace furrow::bicgstab_resident_solver
