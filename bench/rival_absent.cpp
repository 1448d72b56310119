// SPDX-License-Identifier: BSD-3-Clause
#include "rival.hpp"

namespace furrow::bench {

template <class V> std::unique_ptr<rival<V>> make_eigen(const coo<V>&, int) { return nullptr; }
template std::unique_ptr<rival<double>> make_eigen(const coo<double>&, int);
template std::unique_ptr<rival<float>> make_eigen(const coo<float>&, int);
std::string eigen_version() { return "not found"; }

} // namespace furrow::bench
