// SPDX-License-Identifier: BSD-3-Clause
// multigrid_hypre MATRIX RTOL: hypre's conjugate gradients with BoomerAMG as it comes, HMIS coarsening and extended+i
// interpolation, by symmetric Gauss-Seidel. Each rank of `mpirun -n` has its share of the rows.
#include "multigrid_rival.hpp"

#include <HYPRE.h>
#include <HYPRE_IJ_mv.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <mpi.h>

#include <numeric>

namespace {

using furrow::bench::measured;
using furrow::bench::seconds;
using by_rows = furrow::bench::system_by_rows<HYPRE_Int>;

/// The rows of these numbers of a vector.
HYPRE_IJVector vector_of(std::vector<HYPRE_Int>& numbers, const double* values) {
  HYPRE_IJVector v = nullptr;
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, numbers.front(), numbers.back(), &v);
  HYPRE_IJVectorSetObjectType(v, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(v);
  HYPRE_IJVectorSetValues(v, static_cast<HYPRE_Int>(numbers.size()), numbers.data(), values);
  HYPRE_IJVectorAssemble(v);
  return v;
}
HYPRE_ParVector as_parallel(HYPRE_IJVector v) {
  void* object = nullptr;
  HYPRE_IJVectorGetObject(v, &object);
  return static_cast<HYPRE_ParVector>(object);
}

HYPRE_ParCSRMatrix matrix_of(const by_rows& a, std::vector<HYPRE_Int>& numbers) {
  const HYPRE_Int first = numbers.front(), last = numbers.back();
  std::vector<HYPRE_Int> lengths;
  for (HYPRE_Int i = first; i <= last; ++i) lengths.push_back(a.row_ptr[i + 1] - a.row_ptr[i]);
  HYPRE_IJMatrix m = nullptr;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, first, last, first, last, &m);
  HYPRE_IJMatrixSetObjectType(m, HYPRE_PARCSR);
  HYPRE_IJMatrixSetRowSizes(m, lengths.data());
  HYPRE_IJMatrixInitialize(m);
  HYPRE_IJMatrixSetValues(m, static_cast<HYPRE_Int>(numbers.size()), lengths.data(), numbers.data(),
                          a.col.data() + a.row_ptr[first], a.val.data() + a.row_ptr[first]);
  HYPRE_IJMatrixAssemble(m);
  void* object = nullptr;
  HYPRE_IJMatrixGetObject(m, &object);
  return static_cast<HYPRE_ParCSRMatrix>(object);
}

double now_of_all() {
  MPI_Barrier(MPI_COMM_WORLD);
  return seconds();
}

measured solved(const by_rows& a, double rtol, int rank, int ranks) {
  const auto bound = [&](int k) { return static_cast<HYPRE_Int>(static_cast<long long>(a.rows) * k / ranks); };
  std::vector<HYPRE_Int> numbers(static_cast<std::size_t>(bound(rank + 1) - bound(rank)));
  std::iota(numbers.begin(), numbers.end(), bound(rank));
  std::vector<double> mine(numbers.size(), 0.0), all(a.b.size());
  const HYPRE_ParCSRMatrix m = matrix_of(a, numbers); // its own storage: not counted
  const HYPRE_IJVector own_x = vector_of(numbers, mine.data());
  const HYPRE_ParVector b = as_parallel(vector_of(numbers, a.b.data() + bound(rank))), x = as_parallel(own_x);

  const double began = now_of_all();
  HYPRE_Solver cg = nullptr, multigrid = nullptr;
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
  HYPRE_PCGSetMaxIter(cg, 1000);
  HYPRE_PCGSetTol(cg, rtol);
  HYPRE_PCGSetTwoNorm(cg, 1);
  HYPRE_BoomerAMGCreate(&multigrid);
  HYPRE_BoomerAMGSetTol(multigrid, 0.0);
  HYPRE_BoomerAMGSetMaxIter(multigrid, 1);
  HYPRE_BoomerAMGSetRelaxType(multigrid, 6);
  HYPRE_PCGSetPrecond(cg, reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSolve),
                      reinterpret_cast<HYPRE_PtrToSolverFcn>(HYPRE_BoomerAMGSetup), multigrid);
  HYPRE_ParCSRPCGSetup(cg, m, b, x);
  const double made = now_of_all();
  HYPRE_ParCSRPCGSolve(cg, m, b, x);
  const double done = now_of_all();

  HYPRE_Int iterations = 0;
  HYPRE_PCGGetNumIterations(cg, &iterations);
  HYPRE_IJVectorGetValues(own_x, static_cast<HYPRE_Int>(numbers.size()), numbers.data(), mine.data());
  std::vector<int> counts, places;
  for (int k = 0; k < ranks; ++k) counts.push_back(bound(k + 1) - bound(k)), places.push_back(bound(k));
  MPI_Allgatherv(mine.data(), static_cast<int>(mine.size()), MPI_DOUBLE, all.data(), counts.data(), places.data(),
                 MPI_DOUBLE, MPI_COMM_WORLD);
  return {made - began, done - made, a.residual_of(all), iterations};
}

} // namespace

int main(int count, char** words) {
  MPI_Init(&count, &words);
  HYPRE_Init();
  int rank = 0, ranks = 1, answer = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    if (count != 3) throw furrow::error(furrow::fault::usage, "usage: multigrid_hypre MATRIX RTOL");
    const by_rows a(words[1]);
    const double rtol = std::stod(words[2]);
    const measured m = solved(a, rtol, rank, ranks);
    if (rank == 0) furrow::bench::print(m, rtol);
  } catch (const std::exception& wrong) {
    std::fprintf(stderr, "%s\n", wrong.what());
    answer = 3;
  }
  HYPRE_Finalize();
  MPI_Finalize();
  return answer;
}
