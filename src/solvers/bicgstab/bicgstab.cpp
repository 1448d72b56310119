// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab.hpp"

#include "backends/cpu/space.hpp"

#include <fmt/format.h>

namespace furrow {
namespace bicgstab_messages {
namespace {

ending breakdown(const char* what, double value) {
  return {status::breakdown, [=](const solver_messages::standing& s) {
            return fmt::format(
                "iteration {}: {} = {:.3e} vanishes, with a relative residual of {:.3e}, and starting "
                "again did not help: the matrix is singular to working precision, or needs another solver "
                "or preconditioner",
                s.iterations, what, value, s.relative);
          }};
}

} // namespace

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace bicgstab_steps;
  if (verdict == control::not_finite)
    return ending{status::nan,
                  [rho_now = slots[rho_next], sigma_now = slots[sigma]](const solver_messages::standing& s) {
                    return fmt::format("iteration {}: r~'r = {}, r~'Ap = {}: the numbers overflow", s.iterations + 1,
                                       rho_now, sigma_now);
                  }};
  if (patient) return {};
  switch (verdict) {
  case lost_direction:
    return breakdown("r~'Ap", slots[sigma]);
  case lost_step:
    return breakdown("t's", slots[ts]);
  default:
    return breakdown("r~'r", slots[rho_next]);
  }
}

} // namespace bicgstab_messages

namespace bicgstab_solver {

#if FURROW_HAS_GPU
template <class V> solve_report on_gpu(const linear_system<V>& system, const solve_options& options);
#else
template <class V> solve_report on_gpu(const linear_system<V>&, const solve_options&) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

namespace {

template <class V> solve_report run(device where, const linear_system<V>& system, const solve_options& options) {
  if (where.is_gpu()) return on_gpu<V>(system, options);
  cpu::space<V> space;
  return solve_by_bicgstab(space, system, options);
}

} // namespace

extern const solver_entry entry{
    "bicgstab", "stabilised biconjugate gradients, for matrices of any kind", {}, 8, run<double>, run<float>,
};

} // namespace bicgstab_solver
} // namespace furrow
