// SPDX-License-Identifier: BSD-3-Clause
#include "cg_resident.hpp"
#include "entry.hpp"

namespace furrow::resident {

void no_gpu_part() { throw error(fault::device, "this build has no GPU part"); }

#if !FURROW_HAS_GPU
chip chip_of(device) { return {}; }
template <class V> std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>&, const any_preconditioner<V>&, device) {
  no_gpu_part();
}
template <class V> solve_report run(const linear_system<V>&, const solve_options&) { no_gpu_part(); }
#endif

namespace {

struct conjugate_gradients_on_chip {
  static constexpr names who = cg_names;
  static constexpr vectors_kept kept = layout;
  static constexpr std::string_view fitting = "jacobi, none, block_jacobi or chebyshev with at most 16 terms";
  template <class V> static bool applies(const any_preconditioner<V>& m) { return polynomial_in(m) || matrix_in(m); }
  static constexpr int words = 1;
  static constexpr index_t vectors = 5; ///< those of cg
  template <class V>
  static std::unique_ptr<solver_keeps> keep(const coo<V>& a, const any_preconditioner<V>& m, device where) {
    return keep_on_chip(a, m, where);
  }
  template <class V> static solve_report solve(const linear_system<V>& s, const solve_options& o) { return run(s, o); }
};

} // namespace
} // namespace furrow::resident

namespace furrow::cg_resident_solver {

extern const solver_entry entry = resident::entry_of<resident::conjugate_gradients_on_chip>(
    "cg in one kernel, for systems that fit on the chip of a GPU", {{true, true}, {true, true}});

} // namespace furrow::cg_resident_solver
