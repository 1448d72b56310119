// SPDX-License-Identifier: BSD-3-Clause
#include "gmres.hpp"

#include "solvers/on_device.hpp"
#include "solvers/overflow.hpp"

#include <fmt/format.h>

namespace furrow {
namespace gmres_messages {

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace gmres_steps;
  if (verdict == control::not_finite)
    return overflow({{"|A M v|", slots[squares]}, {"|A M v| made orthogonal", slots[left]}});
  if (patient) return {};
  return ending{status::singular, [](const solver_messages::standing& s) {
                  return fmt::format(
                      "iteration {}: A M maps the Krylov space into less than itself, so the matrix or the "
                      "preconditioner is singular to working precision; the best x has a relative residual of {:.3e}",
                      s.iterations + 1, s.relative);
                }};
}

} // namespace gmres_messages

gmres_asked::gmres_asked(std::string_view parameters, bool flexible) {
  const entry_parameters p(flexible ? "fgmres[:RESTART]" : "gmres[:RESTART][:basis=f32]", parameters);
  restart = p.whole(0, 30, 1, 300);
  const auto kept = p.named("basis");
  if (kept && *kept != "f32") p.refuse("a basis is kept in f32, or as all else without it");
  narrow = kept.has_value();
}

namespace gmres_solver {

extern const solver_entry entry{"gmres",
                                "generalised minimal residuals, restarted, for matrices of any kind",
                                {},
                                restarted_gmres<cpu::space<double>, false>::vectors,
                                run_on_device<gmres_method, double>,
                                run_on_device<gmres_method, float>,
                                "[:RESTART][:basis=f32]"};

} // namespace gmres_solver
} // namespace furrow
