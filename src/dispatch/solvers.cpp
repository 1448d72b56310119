// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "matrix/source.hpp"
#include "solvers/entry.hpp"
#include "tables.hpp"

namespace furrow {

#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_solver {                                                                                            \
    extern const solver_entry entry;                                                                                   \
  }
#include "solvers.inc"
#undef FURROW_ENTRY
#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_preconditioner {                                                                                    \
    extern const preconditioner_entry entry;                                                                           \
  }
#include "preconditioners.inc"
#undef FURROW_ENTRY

namespace {

constexpr const solver_entry* solver_table[] = {
#define FURROW_ENTRY(name) &name##_solver::entry,
#include "solvers.inc"
#undef FURROW_ENTRY
};
constexpr const preconditioner_entry* preconditioner_table[] = {
#define FURROW_ENTRY(name) &name##_preconditioner::entry,
#include "preconditioners.inc"
#undef FURROW_ENTRY
};

template <class Table> std::vector<named> names_of(const Table& table) {
  std::vector<named> names;
  for (const auto* e : table) names.push_back({e->name, e->about, e->parameters, e->on_gpu});
  return names;
}

} // namespace

std::span<const solver_entry* const> solver_entries() { return solver_table; }
std::span<const preconditioner_entry* const> preconditioner_entries() { return preconditioner_table; }
const solver_entry& find_solver(std::string_view name) { return find_entry(solver_entries(), "solver", name); }
bool has_solver(std::string_view name) { return has_entry(solver_entries(), name); }
bool has_preconditioner(std::string_view name) { return has_entry(preconditioner_entries(), name); }
const preconditioner_entry& find_preconditioner(std::string_view name) {
  return find_entry(preconditioner_entries(), "preconditioner", name);
}
bool varies(std::string_view name) {
  const preconditioner_entry& entry = find_preconditioner(name);
  return entry.varies && entry.varies(take_apart(name).parameters);
}
namespace {

bool is_definite_enough(const preconditioner_entry& entry, const solver_needs& needed) {
  return (entry.keeps.symmetric || !needed.m.symmetric) && (entry.keeps.definite || !needed.m.definite);
}

void check_serves(const preconditioner_entry& entry, std::string_view name, device where, solver_needs needed) {
  check(needed.flexible || !varies(name), fault::usage,
        "the preconditioner {} is another one in each step, which the solver does not allow for: take fcg or fgmres",
        name);
  check(entry.on_gpu || entry.on_gpu_by_library || !where.is_gpu(), fault::device,
        "the preconditioner {} has no GPU part: solve on the CPU, or take another one", entry.name);
  check(is_definite_enough(entry, needed), fault::usage,
        "the solver needs a symmetric positive definite preconditioner, which {} is not: take another solver, bicgstab "
        "for one, or another preconditioner",
        entry.name);
  check(!needed.transposed || entry.rectangular || (needed.a.symmetric && entry.keeps.symmetric), fault::usage,
        "the solver multiplies by M', too, which {} {}: take jacobi or none", entry.name,
        entry.keeps.symmetric ? "has for a symmetric matrix only" : "does not have");
}

} // namespace

bool suits(std::string_view precond, std::string_view solver) {
  const preconditioner_entry& entry = find_preconditioner(precond);
  const solver_needs& needed = find_solver(solver).needs;
  const bool asks = needed.m.definite && !needed.a.definite;
  return is_definite_enough(entry, needed) && !(asks && entry.definite_only_with_a);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make_preconditioner(std::string_view name, const coo<V>& a, device where,
                                                           solver_needs needed) {
  const preconditioner_entry& entry = find_preconditioner(name);
  check_serves(entry, name, where, needed);
  return entry.make<V>()(a, take_apart(name).parameters, where, needed);
}
template <class V>
std::unique_ptr<any_preconditioner<V>> make_preconditioner(std::string_view name, const matrix_source<V>& a,
                                                           const stats& s, device where, solver_needs needed) {
  const preconditioner_entry& entry = find_preconditioner(name);
  check_serves(entry, name, where, needed);
  if (const auto from_rows = where.is_gpu() && a.has_rows() ? entry.template from_rows<V>() : nullptr)
    if (auto made = from_rows(a.rows(), s, take_apart(name).parameters, needed)) return made;
  return entry.make<V>()(a.triplets(), take_apart(name).parameters, where, needed);
}
template std::unique_ptr<any_preconditioner<double>> make_preconditioner(std::string_view, const matrix_source<double>&,
                                                                         const stats&, device, solver_needs);
template std::unique_ptr<any_preconditioner<float>> make_preconditioner(std::string_view, const matrix_source<float>&,
                                                                        const stats&, device, solver_needs);
template std::unique_ptr<any_preconditioner<double>> make_preconditioner(std::string_view, const coo<double>&, device,
                                                                         solver_needs);
template std::unique_ptr<any_preconditioner<float>> make_preconditioner(std::string_view, const coo<float>&, device,
                                                                        solver_needs);
std::vector<named> solvers() { return names_of(solver_table); }
std::vector<named> preconditioners() { return names_of(preconditioner_table); }

} // namespace furrow
