// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners on the GPU multiply as those of the host do.
#include "applications.hpp"
#include "on_gpu.hpp"

#include "preconditioners/entry.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/array.hpp>
#include <furrow/generate.hpp>

namespace furrow {
namespace {

template <class V> struct gpu_preconditioner : on_gpu_in<V> {
  /// M r by the host and by the GPU, twice.
  void compare(const coo<double>& matrix, const char* name, solver_needs needs = {}) {
    SCOPED_TRACE(std::string(name) + ", " + std::to_string(matrix.shape.rows) + " rows");
    const auto a = kit::as_precision<V>(matrix);
    const auto here = make_preconditioner<V>(name, a, device{}, needs);
    const auto there = make_preconditioner<V>(name, a, this->gpu, needs);
    expect_same_product(*here, *there, kit::random_vector<V>(a.shape.rows, 7),
                        2000 * double(std::numeric_limits<V>::epsilon()));
    EXPECT_GT(there->stored_bytes(), 0);
  }
};
TYPED_TEST_SUITE(gpu_preconditioner, precisions);

/// Every row needs the one before.
coo<double> chain(index_t n) {
  return kit::from_function(n, [](index_t i, index_t j) {
    return i == j ? 4.0 : i == j + 1 || j == i + 1 ? -1.0 : 0.0;
  });
}
/// A full lower triangle behind a diagonal.
coo<double> full(index_t n) {
  return kit::from_function(n, [n](index_t i, index_t j) { return i == j ? double(n) : 1.0 / double(1 + i + 2 * j); });
}
/// Zeros on the diagonal: rows are matched and scaled.
coo<double> shifted(index_t n) {
  return kit::from_function(n, [n](index_t i, index_t j) {
    return (i + 1) % n == j ? 1000.0 * double(1 + i % 7) : (i + 5) % n == j || (3 * i) % n == j ? 1.0 : 0.0;
  });
}

TYPED_TEST(gpu_preconditioner, incomplete_factors) {
  for (const char* name : {"ilu", "ilu:1", "ilu:0:natural", "ilu:0:matched", "ilut", "ssor:1.5", "schwarz:5:2",
                           "schwarz:40:2:inside=dense", "ilu:sweeps=1", "ilu:1:natural:sweeps=4",
                           "ilu:0:matched:sweeps=3", "ilut:sweeps=2"}) {
    this->compare(chain(1), name);
    this->compare(chain(2000), name);
    this->compare(full(150), name);
    this->compare(generate("convection2d:60:10").a, name);
    this->compare(generate("poisson3d:12").a, name);
  }
  for (const char* name : {"ilu", "ilut", "ilu:sweeps=3"}) this->compare(shifted(300), name);
}

TYPED_TEST(gpu_preconditioner, of_symmetric_matrices) {
  const solver_needs definite{{true, true}, {true, true}};
  for (const char* name :
       {"ic0", "ic0:sweeps=1", "ic0:sweeps=4", "fsai", "fsai:2", "chebyshev", "chebyshev:1", "block_jacobi",
        "block_jacobi:3", "jacobi", "spai0", "ssor", "schwarz:5", "schwarz:40:inside=dense"}) {
    this->compare(chain(1), name, definite);
    this->compare(chain(2000), name, definite);
    this->compare(generate("poisson3d:12").a, name, definite);
    this->compare(generate("elasticity3d:5").a, name, definite);
  }
}

TYPED_TEST(gpu_preconditioner, of_given_blocks) {
  this->compare(chain(100), "block_jacobi:starts=0,1,10,13,60,90", {{true, true}, {true, true}});
  this->compare(full(70), "block_jacobi:starts=0,64");
}

} // namespace
} // namespace furrow
