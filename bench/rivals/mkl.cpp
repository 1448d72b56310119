// SPDX-License-Identifier: BSD-3-Clause
// MKL's inspector-executor, found at run time: FURROW_MKL names libmkl_rt, otherwise the loader looks for it. Nothing
// of MKL is needed to build; the few prototypes below are its stable C interface with 32-bit integers.
#include "loaded_library.hpp"
#include "rival.hpp"

#include "core/check.hpp"

#include <array>
#include <limits>

namespace furrow::bench::mkl_rival {
namespace {

struct matrix_description {
  int type, mode, diag;
};
using matrix_handle = struct opaque*;
constexpr int success = 0, zero_based = 0, non_transpose = 10, general = 20, many_calls = 100000;

/// The functions of libmkl_rt, where it is there.
struct library {
  bool found = false;
  int (*set_interface)(int) = nullptr;
  void (*set_threads)(int) = nullptr;
  void (*version)(char*, int) = nullptr;
  int (*destroy)(matrix_handle) = nullptr;
  int (*hint)(matrix_handle, int, matrix_description, int) = nullptr;
  int (*optimize)(matrix_handle) = nullptr;
  int (*create_f64)(matrix_handle*, int, int, int, int*, int*, int*, double*) = nullptr;
  int (*create_f32)(matrix_handle*, int, int, int, int*, int*, int*, float*) = nullptr;
  int (*multiply_f64)(int, double, matrix_handle, matrix_description, const double*, double, double*) = nullptr;
  int (*multiply_f32)(int, float, matrix_handle, matrix_description, const float*, float, float*) = nullptr;

  library() {
    const loaded_library file("FURROW_MKL", {"libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"});
    found = file.find("MKL_Set_Interface_Layer", set_interface) && file.find("MKL_Set_Num_Threads", set_threads) &&
            file.find("MKL_Get_Version_String", version) && file.find("mkl_sparse_destroy", destroy) &&
            file.find("mkl_sparse_set_mv_hint", hint) && file.find("mkl_sparse_optimize", optimize) &&
            file.find("mkl_sparse_d_create_csr", create_f64) && file.find("mkl_sparse_s_create_csr", create_f32) &&
            file.find("mkl_sparse_d_mv", multiply_f64) && file.find("mkl_sparse_s_mv", multiply_f32);
    if (found) set_interface(0); // 32-bit integers
  }
};

const library& loaded() {
  static const library it;
  return it;
}

void check_status(int status, const char* what) {
  check(status == success, fault::internal, "MKL: {} answers {}", what, status);
}

template <class V> class mkl final : public rival<V> {
public:
  mkl(const coo<V>& a, cview<V> x, view<V> y) : row_ptr_(a.shape.rows + 1, 0), col_(a.col), val_(a.val), x_(x), y_(y) {
    for (index_t k = 0; k < a.nnz(); ++k) ++row_ptr_[a.row[k] + 1];
    for (index_t i = 0; i < a.shape.rows; ++i) row_ptr_[i + 1] += row_ptr_[i];
    const library& l = loaded();
    l.set_threads(threads());
    const auto create = [&] {
      if constexpr (sizeof(V) == 8) return l.create_f64;
      else return l.create_f32;
    }();
    check_status(create(&matrix_, zero_based, int(a.shape.rows), int(a.shape.cols), row_ptr_.data(),
                        row_ptr_.data() + 1, col_.data(), val_.data()),
                 "create_csr");
    check_status(l.hint(matrix_, non_transpose, what_, many_calls), "set_mv_hint");
    check_status(l.optimize(matrix_), "optimize");
  }
  mkl(const mkl&) = delete;
  mkl& operator=(const mkl&) = delete;
  ~mkl() override { loaded().destroy(matrix_); }

  void product() override {
    if constexpr (sizeof(V) == 8)
      check_status(loaded().multiply_f64(non_transpose, 1, matrix_, what_, x_.data, 0, y_.data), "mv");
    else check_status(loaded().multiply_f32(non_transpose, 1, matrix_, what_, x_.data, 0, y_.data), "mv");
  }

  double stored_bytes() const override {
    return double(row_ptr_.byte_count()) + double(col_.byte_count()) + double(val_.byte_count());
  }

private:
  static constexpr matrix_description what_{general, 0, 0};
  host_array<std::int32_t> row_ptr_, col_;
  host_array<V> val_;
  cview<V> x_;
  view<V> y_;
  matrix_handle matrix_ = nullptr;
};

template <class V> std::unique_ptr<rival<V>> make(const coo<V>& a, cview<V> x, view<V> y) {
  check(a.nnz() <= std::numeric_limits<int>::max(), fault::input, "MKL is called with 32-bit integers");
  check(a.nnz() > 0, fault::input, "MKL takes no matrix without entries");
  return std::make_unique<mkl<V>>(a, x, y);
}

} // namespace

std::span<const rival_way> ways() {
  static constexpr std::array all{rival_way{"csr_inspected", make<double>, make<float>}};
  return all;
}

std::string version() {
  if (!loaded().found) return {};
  std::array<char, 256> text{};
  loaded().version(text.data(), int(text.size()) - 1);
  std::string found = text.data(); // "Intel(R) oneAPI Math Kernel Library Version 2025.0-Product Build ..."
  const std::size_t at = found.find("Version ");
  if (at != std::string::npos) found = found.substr(at + 8);
  return found.substr(0, found.find_first_of("- "));
}

} // namespace furrow::bench::mkl_rival
