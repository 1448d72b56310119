// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/entry.hpp"

#include <furrow/solve.hpp>
#include <furrow/value.hpp>

namespace furrow {

/// What is known or wanted of a square matrix.
struct matrix_kind {
  bool symmetric = false, definite = false;
};

/// What a solver needs of A and of M. A is taken for symmetric where it asks for that: the set-up has looked.
struct solver_needs {
  matrix_kind a{}, m{};
  bool transposed = false; ///< A' too, and M': then A may be rectangular
  bool flexible = false;   ///< M may be another one in each application
  /// Of A's nodes, where the caller gave them; checked by `check_coordinates`.
  const node_coordinates* coordinates = nullptr;
};

/// What a preconditioner takes, in bytes.
struct preconditioner_layout {
  double bytes = 0;         ///< that it keeps, on its device
  double making = 0;        ///< host memory beside the triplets at the peak of making it
  bool exact = true;        ///< otherwise the numbers are an estimate
  double making_on_gpu = 0; ///< memory of a GPU beside it at the peak of making it there
};

/// Makes M from triplets that were checked. `parameters` is what follows the name and a colon ("2" of `ilu:2`). Throws
/// a `refusal` where M would not be what is needed, or cannot be had from these numbers; `fault::memory` before it
/// takes memory that is not there.
template <class V>
using preconditioner_maker = std::unique_ptr<any_preconditioner<V>> (*)(const coo<V>& a, std::string_view parameters,
                                                                        device where, solver_needs needed);

/// The same from rows on the current GPU; null where the host is to do it, from triplets, or to say why it cannot.
template <class V>
using preconditioner_from_rows = std::unique_ptr<any_preconditioner<V>> (*)(const rows_on_gpu<V>& a, const stats& s,
                                                                            std::string_view parameters,
                                                                            solver_needs needed);

/// A preconditioner as the rest of the library sees it. One per folder of src/preconditioners; the table is generated.
struct preconditioner_entry {
  std::string_view name, about;
  /// Whether M is symmetric (definite) wherever A is.
  matrix_kind keeps{};
  /// Throws `fault::usage` for parameters that make no sense.
  preconditioner_layout (*lay_out)(const stats& s, precision p, std::string_view parameters) = nullptr;
  preconditioner_maker<double> f64 = nullptr;
  preconditioner_maker<float> f32 = nullptr;
  std::string_view parameters{}; ///< what may follow the name, for people: "[:LEVEL]"
  bool on_gpu = true;            ///< whether it has code for a GPU
  bool rectangular = false;      ///< whether it serves rectangular matrices: M is a diagonal, so that M' is M
  preconditioner_from_rows<double> rows_f64 = nullptr; ///< null: always from triplets
  preconditioner_from_rows<float> rows_f32 = nullptr;
  /// Whether M is no fixed linear map: another one in each application. Null: it never is.
  bool (*varies)(std::string_view parameters) = nullptr;
  /// Whether it makes use of coordinates. Null: it does not.
  bool (*takes_coordinates)(std::string_view parameters) = nullptr;
  /// Of one without code of its own for a GPU: a library of the machine's serves there, where it is installed. It is
  /// asked for by name alone; "auto" takes the code for the CPU.
  bool on_gpu_by_library = false;
  bool definite_only_with_a = false; ///< refuses a method that wants a definite M and asks for no definite A
  bool by_levels = false;            ///< a GPU takes its rows level by level, which is hardly faster than a host

  template <class V> preconditioner_maker<V> make() const { return for_value<V>(f64, f32); }
  template <class V> preconditioner_from_rows<V> from_rows() const { return for_value<V>(rows_f64, rows_f32); }
};

std::span<const preconditioner_entry* const> preconditioner_entries();
/// By "ilu" or "ilu:2".
const preconditioner_entry& find_preconditioner(std::string_view name);
bool has_preconditioner(std::string_view name);
/// Whether it is no fixed linear map; by a name with its parameters.
bool varies(std::string_view name);
/// Whether the solver may have its M, as far as symmetry and definiteness tell.
bool suits(std::string_view precond, std::string_view solver);

/// By a name with its parameters. Throws as the entry does, and `fault::device` for one that has no code for `where`.
template <class V>
std::unique_ptr<any_preconditioner<V>> make_preconditioner(std::string_view name, const coo<V>& a, device where,
                                                           solver_needs needed);

/// The same from a source, on its GPU where there are rows, a part for them, and where `where` is that GPU.
template <class V> class matrix_source;
template <class V>
std::unique_ptr<any_preconditioner<V>> make_preconditioner(std::string_view name, const matrix_source<V>& a,
                                                           const stats& s, device where, solver_needs needed);

/// A preconditioner or a solver met numbers that end the solve before it starts.
struct refusal {
  status why;
  std::string message;
};

} // namespace furrow
