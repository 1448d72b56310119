// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

/// The part of cuDSS, NVIDIA's sparse direct solver, that `lu` calls on a GPU.
/// The library is looked for when it is first needed: a build knows nothing of
/// it, and a machine without it misses nothing else. Declared after its
/// documentation, https://docs.nvidia.com/cuda/cudss, for versions 0.7 and 1.
namespace furrow::lu::cudss {

using object = void*; ///< cudssHandle_t, cudssConfig_t, cudssData_t and
                      ///< cudssMatrix_t, all of them pointers
using status = int;   ///< cudssStatus_t; 0: success
using create_csr_0 = status(object*, std::int64_t, std::int64_t, std::int64_t, void*, void*, void*, void*, int, int,
                            int, int, int);
using create_csr_1 = status(object*, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, const void*,
                            const void*, int, int, int, int, int, int);

/// Its functions, by their names without the prefix.
struct library {
  int major = 0, minor = 0, patch = 0;
  status (*create)(object* handle) = nullptr;
  status (*destroy)(object handle) = nullptr;
  status (*set_stream)(object handle, void* stream) = nullptr;
  status (*config_create)(object* config) = nullptr;
  status (*config_destroy)(object config) = nullptr;
  status (*config_set)(object config, int what, const void* value, std::size_t bytes) = nullptr;
  status (*data_create)(object handle, object* data) = nullptr;
  status (*data_destroy)(object handle, object data) = nullptr;
  status (*data_get)(object handle, object data, int what, void* value, std::size_t bytes,
                     std::size_t* written) = nullptr;
  status (*matrix_create_dn)(object* matrix, std::int64_t rows, std::int64_t cols, std::int64_t ld, const void* values,
                             int type, int layout) = nullptr;
  status (*matrix_destroy)(object matrix) = nullptr;
  status (*matrix_set_values)(object matrix, const void* values) = nullptr;
  status (*execute)(object handle, int phase, object config, object data, object a, object x, object b) = nullptr;
  create_csr_0* csr_0 = nullptr;
  create_csr_1* csr_1 = nullptr;

  /// A general matrix of doubles in compressed rows, indices of 32 bits from 0
  /// on.
  status matrix_create_csr(object* matrix, std::int64_t n, std::int64_t nnz, void* begin, void* col, void* val) const;
  std::string name() const; ///< "cuDSS 0.7.1"

  // Enumerators whose numbers differ between the versions.
  int deterministic_mode() const { return major == 0 ? 25 : 24; }
  int memory_estimates() const { return major == 0 ? 12 : 13; }
};

inline constexpr int real_64 = 1, integer_32 = 10; ///< of cudaDataType_t
enum data : int { info = 0, lu_nnz = 1, pivots = 2 };
enum phase : int { analysis = 3, factorization = 4, solve = 1008 };
enum failure : int { out_of_memory = 2 };

/// Null where it is not installed, or is a version that nobody has tried.
const library* find();
/// Throws `fault::device` with what to install.
[[noreturn]] void refuse_without();
/// Throws `fault::memory` or `fault::device` with what was being done unless
/// `s` is a success.
void check(status s, const char* doing);
/// Throws `fault::memory` where more bytes are needed than there are. `side`:
/// "GPU".
void check_memory(double needed, double there, const char* side);
/// What `lu` says of its factors. `times`: their bytes beside those of the
/// entries; `raised`: pivots made larger.
std::string describe(const library& l, double times, int raised);

} // namespace furrow::lu::cudss
