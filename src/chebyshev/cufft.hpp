// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The part of cuFFT, NVIDIA's Fourier transforms, that Chebyshev products call on a GPU. The library is looked for
/// when a transform on a GPU is first asked for (`core/late_library.hpp`). Declared after its documentation,
/// https://docs.nvidia.com/cuda/cufft, for versions 11 and 12.
namespace furrow::chebyshev::cufft {

using plan = int;   ///< cufftHandle
using status = int; ///< cufftResult; 0: success

inline constexpr int complex_to_complex = 0x69, complex_to_real = 0x6c; ///< CUFFT_Z2Z and CUFFT_Z2D
inline constexpr int plus = 1, minus = -1; ///< the sign of the exponent: CUFFT_INVERSE and CUFFT_FORWARD
inline constexpr status out_of_memory = 2; ///< CUFFT_ALLOC_FAILED

/// Its functions, by their names without the prefix. Complex numbers are two doubles each.
struct library {
  int version = 0; ///< 12000 for 12.0.0
  std::filesystem::path file;
  status (*get_version)(int* version) = nullptr;
  status (*create)(plan* made) = nullptr;
  status (*destroy)(plan p) = nullptr;
  status (*set_auto_allocation)(plan p, int is_wanted) = nullptr;
  status (*make_plan_many_64)(plan p, int rank, long long* n, long long* in_embedded, long long in_stride,
                              long long in_distance, long long* out_embedded, long long out_stride,
                              long long out_distance, int type, long long batch, std::size_t* work_bytes) = nullptr;
  status (*set_work_area)(plan p, void* work) = nullptr;
  status (*set_stream)(plan p, void* stream) = nullptr;
  status (*exec_z2z)(plan p, void* in, void* out, int sign) = nullptr;
  status (*exec_z2d)(plan p, void* in, double* out) = nullptr;

  std::string version_text() const; ///< "12.0.0"
};

struct search {
  std::optional<library> found;
  std::string why; ///< what is wrong where it is not: "is not found where the loader looks, nor in ..."
};

/// Looks for the first of `names` that can be opened and has all functions.
search look_for(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders);

/// Of libcufft.so.12 and libcufft.so.11, looked for once in a process.
const search& searched();

/// What to do about a search that found nothing, in a sentence.
std::string sentence(const search& s);

/// The library. Throws `fault::device` with `sentence` where there is none.
const library& needed();

/// Throws `fault::device` (`fault::memory` where there is not enough of it) unless `s` is a success.
void check(status s, const char* what);

} // namespace furrow::chebyshev::cufft
