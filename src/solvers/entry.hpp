// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"

#include <furrow/communicator.hpp>
#include <furrow/value.hpp>

namespace furrow {

/// What a method keeps of its set-up beside an operator and M: made once, for all solves.
struct solver_keeps {
  virtual ~solver_keeps() = default;
  virtual double stored_bytes() const = 0; ///< with the vectors that a solve takes beside those of the entry
  /// Says in a report what ran: solver, precond and what M says of itself.
  virtual void describe(solve_report& report) const = 0;
};

/// A x = b on one device, everything in that device's memory.
template <class V> struct linear_system {
  const any_operator<V>& a;
  const any_preconditioner<V>& m;
  cview<V> b;
  view<V> x;           ///< first guess in, answer out
  double norm_inf = 0; ///< of A: scales what counts as rounding
  double norm_2 = 0;   ///< a bound of the spectral norm of |A|: |A|_inf for a symmetric A
  index_t longest_row = 0;
  std::string_view parameters{};               ///< what follows the solver's name and a colon: "50" of `gmres:50`
  const any_operator<V>* transposed = nullptr; ///< A' where the solver needs it; &a where A is symmetric
  solver_keeps* kept = nullptr;                ///< what the method's own set-up made
  /// A step of another method, which works the residual out itself: the solver takes its recurrence at its word, does
  /// not start again, and gives up sooner.
  bool inner = false;
  /// Of the ranks that hold the other rows; null: there is one. b and x are then those of this rank's rows, `a` and `m`
  /// take and give them, and the numbers above are those of the whole matrix.
  communicator* ranks = nullptr;
  index_t unknowns = 0;  ///< on all ranks together, where there are several
  index_t first_row = 0; ///< of this rank in the whole matrix

  index_t size() const { return ranks ? unknowns : x.size; }
};

/// A set-up of a method's own, from the triplets of A that a preconditioner sees, and beside M. Null: the method needs
/// an operator and M, and solves with operators of the caller.
struct own_set_up {
  /// What it takes beside the operator, in bytes, making included.
  memory_estimate (*estimate)(const stats& s, std::string_view parameters, const solve_options& options) = nullptr;
  /// Throws a `refusal` where no solve can start, errors as a preconditioner's maker.
  std::unique_ptr<solver_keeps> (*f64)(const coo<double>& a, const any_preconditioner<double>& m,
                                       std::string_view parameters, const solve_options& options) = nullptr;
  std::unique_ptr<solver_keeps> (*f32)(const coo<float>& a, const any_preconditioner<float>& m,
                                       std::string_view parameters, const solve_options& options) = nullptr;
  /// M is made as for any other method; otherwise it is the set-up's affair, too, and the method's own the identity.
  bool beside_m = false;
  /// Whether it may serve, from statistics alone. Null: it does.
  bool (*may_serve)(const stats& s, precision p, device where) = nullptr;

  bool replaces_m() const { return estimate && !beside_m; }
  explicit operator bool() const { return estimate != nullptr; }
  template <class V> auto make() const { return for_value<V>(f64, f32); }
};

template <class V>
using columns_runner = std::vector<solve_report> (*)(const linear_system<V>& systems, index_t columns,
                                                     const solve_options& options);

/// A solver as the rest of the library sees it. One per folder of src/solvers; the table is generated.
struct solver_entry {
  std::string_view name, about;
  solver_needs needs{};
  /// Vectors of n values that it allocates; n is the longer side where the sides differ. Throws `fault::usage` for
  /// parameters that make no sense.
  index_t (*vectors)(std::string_view parameters) = nullptr;
  solve_report (*f64)(device where, const linear_system<double>& system, const solve_options& options) = nullptr;
  /// Null: it solves systems in double only.
  solve_report (*f32)(device where, const linear_system<float>& system, const solve_options& options) = nullptr;
  std::string_view parameters{};       ///< what may follow the name, for people: "[:RESTART]"
  std::string_view precond = "jacobi"; ///< the preconditioner that "auto" means
  bool on_gpu = true;                  ///< whether it has code for a GPU
  bool on_cpu = true;                  ///< and for the CPU
  /// Several right-hand sides at once, on the CPU: b and x of the system hold columns one behind the other, finite,
  /// none of b zero. Null: they are solved one after the other.
  columns_runner<double> columns_f64 = nullptr;
  columns_runner<float> columns_f32 = nullptr;
  own_set_up set_up{}; ///< of its own, beside operator and M

  template <class V> auto runner() const { return for_value<V>(f64, f32); }
  template <class V> columns_runner<V> columns() const { return for_value<V>(columns_f64, columns_f32); }

  /// A solver that needs A' takes any matrix; whether this one is symmetric decides which M will do.
  solver_needs needs_for(bool symmetric) const {
    solver_needs n = needs;
    if (n.transposed) n.a.symmetric = symmetric;
    return n;
  }
};

std::span<const solver_entry* const> solver_entries();
/// By "gmres" or "gmres:50".
const solver_entry& find_solver(std::string_view name);
bool has_solver(std::string_view name);
/// The usual form of a method that keeps the system on the chip: "cg" of "cg_resident"; any other name as it is.
inline std::string_view off_chip(std::string_view name) {
  constexpr std::string_view on_chip = "_resident";
  return name.substr(0, name.size() - (name.ends_with(on_chip) ? on_chip.size() : 0));
}

} // namespace furrow
