// SPDX-License-Identifier: BSD-3-Clause
#include "dense.hpp"

namespace furrow::bench {

#define FURROW_RIVAL(name)                                                                                             \
  namespace name##_rival {                                                                                             \
    std::span<const rival_way> ways();                                                                                 \
    std::string version();                                                                                             \
  }
FURROW_RIVAL(cusparse)
FURROW_RIVAL(eigen)
FURROW_RIVAL(mkl)
#undef FURROW_RIVAL
#define FURROW_RIVAL(name)                                                                                             \
  namespace name##_rival {                                                                                             \
    const dense_ways* dense();                                                                                         \
    std::string version();                                                                                             \
  }
FURROW_RIVAL(cublas)
FURROW_RIVAL(openblas)
#undef FURROW_RIVAL

std::span<const rival_library> rival_libraries() {
  static const rival_library table[] = {
#if FURROW_RIVAL_CUSPARSE
    {"cuSPARSE", device::kind::gpu, "", cusparse_rival::ways(), cusparse_rival::version},
#else
    {"cuSPARSE", device::kind::gpu, "configure with -DFURROW_BENCH=ON where the CUDA toolkit is", {}, nullptr},
#endif
#if FURROW_RIVAL_EIGEN
    {"Eigen", device::kind::cpu, "", eigen_rival::ways(), eigen_rival::version},
#else
    {"Eigen",
     device::kind::cpu,
     "install libeigen3-dev and a compiler with OpenMP, configure with -DFURROW_BENCH=ON",
     {},
     nullptr},
#endif
#if FURROW_RIVAL_MKL
    {"MKL", device::kind::cpu, "pip install mkl, then FURROW_MKL=<its lib folder>/libmkl_rt.so.3", mkl_rival::ways(),
     mkl_rival::version},
#else
    {"MKL", device::kind::cpu, "configure with -DFURROW_BENCH=ON; pip install mkl", {}, nullptr},
#endif
  };
  return table;
}

std::span<const rival_library> dense_libraries() {
  static const rival_library table[] = {
#if FURROW_RIVAL_CUBLAS
    {"cuBLAS", device::kind::gpu, "", {}, cublas_rival::version, cublas_rival::dense()},
#else
    {"cuBLAS", device::kind::gpu, "configure with -DFURROW_BENCH=ON where the CUDA toolkit is", {}, nullptr},
#endif
#if FURROW_RIVAL_OPENBLAS
    {"OpenBLAS",
     device::kind::cpu,
     "install libopenblas0-pthread, or FURROW_OPENBLAS=<its folder>/libopenblas.so.0",
     {},
     openblas_rival::version,
     openblas_rival::dense()},
#else
    {"OpenBLAS", device::kind::cpu, "configure with -DFURROW_BENCH=ON; install libopenblas0-pthread", {}, nullptr},
#endif
  };
  return table;
}

const rival_way* find_rival(std::string_view library, std::string_view way) {
  for (const auto& l : rival_libraries())
    if (l.name == library && l.present())
      for (const auto& w : l.ways)
        if (w.name == way) return &w;
  return nullptr;
}

} // namespace furrow::bench
