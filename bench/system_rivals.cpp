// SPDX-License-Identifier: BSD-3-Clause
// Rivals of real_systems.py that are libraries of C++, in a program without Furrow:
//
//   system_rivals                      the names of those that were found when it was built
//   system_rivals NAME SYSTEM RTOL X   solves a system and prints {"said": bool, "seconds": s, "again": s}
//
// SYSTEM, as real_systems.py writes it: two int64, rows and entries; row_ptr and columns in int32; values and b in
// double. X: the answer in double. Seconds are set-up and solve, `again` of a process that has made them before: the
// median of repeats, or those of the first one where it was long. A library that refuses is said to: {"why": sentence}.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <ios>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#if __has_include(<Eigen/SparseLU>)
#include <Eigen/Core>

#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseLU>
#define HAS_EIGEN 1
#endif
#if __has_include(<amgcl/amg.hpp>)
#define AMGCL_NO_BOOST
#include <amgcl/adapter/crs_tuple.hpp>
#include <amgcl/amg.hpp>
#include <amgcl/backend/builtin.hpp>
#include <amgcl/coarsening/smoothed_aggregation.hpp>
#include <amgcl/make_solver.hpp>
#include <amgcl/relaxation/spai0.hpp>
#include <amgcl/solver/bicgstab.hpp>
#define HAS_AMGCL 1
#endif
#if __has_include(<petscksp.h>)
#include <petscksp.h>
#define HAS_PETSC 1
#endif

namespace {

constexpr int most_iterations = 10000;
constexpr std::size_t repeats = 25; // as in system_rivals.py, and in seconds:
constexpr double seconds_of_repeats = 0.1, is_long = 0.05;

struct linear_system {
  std::int64_t rows = 0, entries = 0;
  std::vector<std::int32_t> row_ptr, col;
  std::vector<double> val, b;

  explicit linear_system(const char* name) {
    std::ifstream in(name, std::ios::binary);
    in.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
    const auto take = [&](auto* to, std::int64_t count) {
      in.read(reinterpret_cast<char*>(to), static_cast<std::streamsize>(sizeof(*to) * static_cast<std::size_t>(count)));
    };
    const auto take_all = [&](auto& to, std::int64_t count) {
      to.resize(static_cast<std::size_t>(count));
      take(to.data(), count);
    };
    take(&rows, 1), take(&entries, 1);
    take_all(row_ptr, rows + 1), take_all(col, entries), take_all(val, entries), take_all(b, rows);
  }
};

using answer = std::vector<double>;

/// A preset: x, empty where the library made none, and whether the library says that it converged.
struct preset {
  std::string_view name;
  bool (*solve)(const linear_system& a, double rtol, answer& x);
  void (*start)() = [] {}; ///< before the clock runs
};

#if HAS_EIGEN
using by_rows = Eigen::Map<const Eigen::SparseMatrix<double, Eigen::RowMajor>>;

by_rows rows_of(const linear_system& a) {
  return {a.rows, a.rows, a.entries, a.row_ptr.data(), a.col.data(), a.val.data()};
}

template <class Solver> bool with_eigen(Solver& s, const linear_system& a, answer& x) {
  if (s.info() != Eigen::Success) return false;
  x.resize(a.b.size());
  Eigen::Map<Eigen::VectorXd>(x.data(), a.rows) = s.solve(Eigen::Map<const Eigen::VectorXd>(a.b.data(), a.rows));
  return s.info() == Eigen::Success;
}

bool eigen_lu(const linear_system& a, double, answer& x) {
  const Eigen::SparseMatrix<double> columns = rows_of(a);
  Eigen::SparseLU<Eigen::SparseMatrix<double>> s(columns);
  return with_eigen(s, a, x);
}

template <class M> bool eigen_bicgstab(const linear_system& a, double rtol, answer& x) {
  Eigen::BiCGSTAB<Eigen::SparseMatrix<double, Eigen::RowMajor>, M> s;
  s.setTolerance(rtol);
  s.setMaxIterations(most_iterations);
  const Eigen::SparseMatrix<double, Eigen::RowMajor> rows = rows_of(a);
  s.compute(rows);
  return with_eigen(s, a, x);
}
#endif

#if HAS_AMGCL
bool amgcl_default(const linear_system& a, double rtol, answer& x) {
  using backend = amgcl::backend::builtin<double>;
  using multigrid = amgcl::amg<backend, amgcl::coarsening::smoothed_aggregation, amgcl::relaxation::spai0>;
  using solver = amgcl::make_solver<multigrid, amgcl::solver::bicgstab<backend>>;
  solver::params wanted;
  wanted.solver.tol = rtol;
  wanted.solver.maxiter = most_iterations;
  solver s(std::tie(a.rows, a.row_ptr, a.col, a.val), wanted);
  x.assign(a.b.size(), 0.0);
  return std::get<1>(s(a.b, x)) <= rtol;
}
#endif

#if HAS_PETSC
void must(PetscErrorCode code) {
  if (code) throw std::runtime_error("PETSc's error " + std::to_string(code));
}
void start_petsc() {
  must(PetscInitializeNoArguments());
  must(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr));
}

/// By PETSc's own test, on the preconditioned residual. It reads A and b where they are.
template <const char* const& Method, const char* const& Precond>
bool petsc(const linear_system& a, double rtol, answer& x) {
  static_assert(sizeof(PetscInt) == sizeof(std::int32_t) && sizeof(PetscScalar) == sizeof(double));
  const auto n = static_cast<PetscInt>(a.rows);
  x.assign(a.b.size(), 0.0);
  Mat matrix = nullptr;
  Vec from = nullptr, to = nullptr;
  KSP solver = nullptr;
  PC precond = nullptr;
  must(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, n, n, const_cast<PetscInt*>(a.row_ptr.data()),
                                 const_cast<PetscInt*>(a.col.data()), const_cast<double*>(a.val.data()), &matrix));
  must(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, a.b.data(), &from));
  must(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, n, x.data(), &to));
  must(KSPCreate(PETSC_COMM_SELF, &solver));
  must(KSPSetOperators(solver, matrix, matrix));
  must(KSPSetType(solver, Method));
  must(KSPGetPC(solver, &precond));
  must(PCSetType(precond, Precond));
  must(KSPSetTolerances(solver, rtol, 0, PETSC_DEFAULT, most_iterations));
  must(KSPSolve(solver, from, to));
  KSPConvergedReason why{};
  must(KSPGetConvergedReason(solver, &why));
  return why > 0;
}
constexpr const char *preonly = KSPPREONLY, *cg = KSPCG, *gmres = KSPGMRES;
constexpr const char *lu = PCLU, *icc = PCICC, *ilu = PCILU, *gamg = PCGAMG;
#endif

constexpr preset presets[] = {
#if HAS_EIGEN
    {"eigen:lu", eigen_lu},
    {"eigen:bicgstab+ilut", eigen_bicgstab<Eigen::IncompleteLUT<double>>},
    {"eigen:bicgstab+jacobi", eigen_bicgstab<Eigen::DiagonalPreconditioner<double>>},
#endif
#if HAS_AMGCL
    {"amgcl", amgcl_default},
#endif
#if HAS_PETSC
    {"petsc:lu", petsc<preonly, lu>, start_petsc},
    {"petsc:cg+icc", petsc<cg, icc>, start_petsc},
    {"petsc:gmres+ilu", petsc<gmres, ilu>, start_petsc},
    {"petsc:cg+gamg", petsc<cg, gamg>, start_petsc},
#endif
};

int solve(const preset& p, const char* system, double rtol, const char* file) {
  const linear_system a(system);
  answer x;
  p.start();
  bool said = false;
  const auto timed = [&] {
    const auto began = std::chrono::steady_clock::now();
    said = p.solve(a, rtol, x);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  const double first = timed();
  std::ofstream(file, std::ios::binary)
      .write(reinterpret_cast<const char*>(x.data()), static_cast<std::streamsize>(8 * x.size()));
  std::vector<double> took;
  for (double all = 0; first <= is_long && took.size() < repeats && all < seconds_of_repeats; all += took.back())
    took.push_back(timed());
  if (took.empty()) took.push_back(first);
  std::ranges::sort(took);
  const double again = (took[(took.size() - 1) / 2] + took[took.size() / 2]) / 2;
  std::printf("{\"said\": %s, \"seconds\": %.7f, \"again\": %.7f}\n", said ? "true" : "false", first, again);
  return 0;
}

} // namespace

int main(int count, char** words) try {
  if (count == 1) {
    for (const preset& p : presets) std::printf("%.*s\n", int(p.name.size()), p.name.data());
    return 0;
  }
  for (const preset& p : presets)
    if (count == 5 && p.name == words[1]) return solve(p, words[2], std::stod(words[3]), words[4]);
  std::fprintf(stderr, "usage: system_rivals [NAME SYSTEM RTOL X], with a NAME that it prints alone\n");
  return 2;
} catch (const std::exception& wrong) {
  std::string why = wrong.what();
  for (char& c : why)
    if (c == '"' || c == '\\' || c < ' ') c = ' ';
  std::printf("{\"why\": \"%s\"}\n", why.c_str());
  return 0;
}
