// SPDX-License-Identifier: BSD-3-Clause
#include "rival.hpp"

#include <Eigen/SparseCore>

#include <Eigen/IterativeLinearSolvers>

#include <array>
#include <chrono>

namespace furrow::bench::eigen_rival {
namespace {

template <class V> class eigen final : public rival<V> {
  using matrix = Eigen::SparseMatrix<V, Eigen::RowMajor>;
  using vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

public:
  eigen(const coo<V>& a, cview<V> x, view<V> y) : a_(a.shape.rows, a.shape.cols), x_(x), y_(y) {
    Eigen::setNbThreads(threads());
    Eigen::VectorXi lengths = Eigen::VectorXi::Zero(a.shape.rows);
    for (index_t k = 0; k < a.nnz(); ++k) ++lengths[a.row[k]];
    a_.reserve(lengths);
    for (index_t k = 0; k < a.nnz(); ++k) a_.insert(a.row[k], a.col[k]) = a.val[k];
    a_.makeCompressed();
  }

  void product() override {
    Eigen::Map<vector, Eigen::Aligned64> out(y_.data, a_.rows());
    out.noalias() = a_ * Eigen::Map<const vector, Eigen::Aligned64>(x_.data, a_.cols());
  }

  double stored_bytes() const override {
    return double(sizeof(V) + sizeof(int)) * double(a_.nonZeros()) + double(sizeof(int)) * double(a_.rows() + 1);
  }

  double iteration_seconds(const V* b, int iterations) override {
    if (!ready_) {
      cg_.compute(a_);
      ready_ = true;
    }
    cg_.setTolerance(V(1e-30));
    cg_.setMaxIterations(iterations);
    const vector rhs = Eigen::Map<const vector>(b, a_.rows());
    vector x = vector::Zero(a_.cols());
    const auto began = std::chrono::steady_clock::now();
    x = cg_.solve(rhs);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    return took.count() / double(std::max<Eigen::Index>(cg_.iterations(), 1));
  }

private:
  matrix a_;
  cview<V> x_;
  view<V> y_;
  Eigen::ConjugateGradient<matrix, Eigen::Lower | Eigen::Upper, Eigen::DiagonalPreconditioner<V>> cg_;
  bool ready_ = false;
};

template <class V> std::unique_ptr<rival<V>> make(const coo<V>& a, cview<V> x, view<V> y) {
  check(a.nnz() <= std::numeric_limits<int>::max(), fault::input, "Eigen counts entries with 32 bits");
  return std::make_unique<eigen<V>>(a, x, y);
}

} // namespace

std::span<const rival_way> ways() {
  static constexpr std::array all{rival_way{"csr", make<double>, make<float>}};
  return all;
}

std::string version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

} // namespace furrow::bench::eigen_rival
