// SPDX-License-Identifier: BSD-3-Clause
#include "cg_resident.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"

namespace furrow::resident {

#if !FURROW_HAS_GPU
chip chip_of(device) { return {}; }
template <class V> std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>&, device) {
  throw error(fault::device, "this build has no GPU part");
}
template <class V> solve_report run(const linear_system<V>&, const solve_options&) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

void does_not_fit(index_t rows, index_t entries, const chip& c) {
  throw_sentence(fault::memory,
                 "cg_resident keeps a system on the chip, and {} rows with {} entries do not fit on {} multiprocessors "
                 "with {} KB each: take cg",
                 rows, entries, c.blocks, c.block_bytes / 1024);
}
void does_not_run(std::int64_t bytes) {
  throw_sentence(fault::device,
                 "cg_resident needs {} threads and {} KB on each multiprocessor at once, which this GPU does not have: "
                 "take cg",
                 int(threads), bytes / 1024);
}

namespace {

template <class V>
std::unique_ptr<solver_keeps> set_up(const coo<V>& a, std::string_view, const solve_options& options) {
  const std::string_view m = options.precond;
  check(m == "jacobi" || m == "none" || m == "auto", fault::usage,
        "cg_resident applies its preconditioner on the chip, where {} does not fit: take jacobi or none, or cg with {}",
        m, m);
  return keep_on_chip(a, options.where);
}

/// The plan on the host; on the GPU rows, their numbers and words. A halo has an element an entry at most.
memory_estimate estimate(const stats& s, std::string_view, const solve_options& options) {
  const double n = double(s.shape.rows), nnz = double(s.nnz), value = options.values == precision::f32 ? 4 : 8;
  return {.host = 16 * n + 6 * nnz, .gpu = (value + 6) * nnz + (8 + 2 * value) * n};
}

/// Whether equal shares of rows and entries may fit, with a halo of as many elements as rows.
bool may_fit(const stats& s, precision p, device where) {
  const chip c = chip_of(where);
  if (c.blocks < 2) return false;
  const index_t rows = (s.shape.rows + c.blocks - 2) / (c.blocks - 1);
  return bytes_of({rows, 0, rows}, static_cast<int>(bytes_of(p)), false) <= c.block_bytes;
}

template <class V> solve_report solve(device, const linear_system<V>& system, const solve_options& options) {
  check(system.m.what() != any_preconditioner<V>::kind::general, fault::usage,
        "cg_resident applies its preconditioner on the chip, for which it must be a diagonal: take cg with this one");
  return run(system, options);
}

/// Those of cg.
index_t vectors(std::string_view parameters) {
  no_parameters(solver_name, parameters);
  return 5;
}

} // namespace
} // namespace furrow::resident

namespace furrow::cg_resident_solver {

extern const solver_entry entry{
    .name = resident::solver_name,
    .about = "cg in one kernel, for systems that fit on the chip of a GPU",
    .needs = {{true, true}, {true, true}},
    .vectors = resident::vectors,
    .f64 = resident::solve<double>,
    .f32 = resident::solve<float>,
    .on_cpu = false,
    .set_up = {.estimate = resident::estimate,
               .f64 = resident::set_up<double>,
               .f32 = resident::set_up<float>,
               .beside_m = true,
               .may_serve = resident::may_fit},
};

} // namespace furrow::cg_resident_solver
