// SPDX-License-Identifier: BSD-3-Clause
#include "idr.hpp"

#include "solvers/on_device.hpp"

#include <fmt/format.h>

#include <random>

namespace furrow {
namespace idr_messages {

std::optional<ending> explain(int verdict, const double* slots, bool patient) {
  using namespace idr_steps;
  using solver_messages::standing;
  if (verdict == control::not_finite)
    return ending{status::nan, [step = slots[beta], factor = slots[omega]](const standing& s) {
                    return fmt::format("iteration {}: beta = {}, omega = {}: the numbers overflow", s.iterations + 1,
                                       step, factor);
                  }};
  if (patient) return {};
  const char* const what = verdict == lost_shadow ? "P'Au loses rank" : "A M r vanishes";
  return ending{status::breakdown, [=](const standing& s) {
                  return fmt::format(
                      "iteration {}: {}, with a relative residual of {:.3e}, and starting again did not help: the "
                      "matrix or the preconditioner is singular to working precision, or needs another solver, such as "
                      "gmres",
                      s.iterations + 1, what, s.relative);
                }};
}

/// Modified Gram-Schmidt, twice: as good as to rounding.
std::vector<host_array<double>> shadow_space(index_t n, int count) {
  std::mt19937_64 random(20110701); // its sequence is the same with every standard library
  std::vector<host_array<double>> all;
  for (int k = 0; k < count; ++k) {
    host_array<double> v(n);
    for (double& value : v) value = double(static_cast<std::int64_t>(random()) >> 11) * 0x1p-52;
    const auto dot = [&](const host_array<double>& u) {
      double sum = 0;
      for (index_t i = 0; i < n; ++i) sum += u[i] * v[i];
      return sum;
    };
    for (int pass = 0; pass < 2; ++pass)
      for (const auto& u : all) {
        const double h = dot(u);
        for (index_t i = 0; i < n; ++i) v[i] -= h * u[i];
      }
    const double size = std::sqrt(dot(v));
    for (double& value : v) value /= size;
    all.push_back(std::move(v));
  }
  return all;
}

} // namespace idr_messages

namespace idr_solver {

extern const solver_entry entry{"idr",
                                "induced dimension reduction, IDR(s), for matrices of any kind in short recurrences",
                                {},
                                induced_dimension_reduction<cpu::space<double>>::vectors,
                                run_on_device<idr_method, double>,
                                run_on_device<idr_method, float>,
                                "[:S]"};

} // namespace idr_solver
} // namespace furrow
