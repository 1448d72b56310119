// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include <furrow/operator.hpp>

#include <memory>

namespace furrow::csr_format {

/// On the CPU, by the kernel that "auto" means. The operator holds these very arrays, where they lie.
template <class V> std::unique_ptr<any_operator<V>> operator_of(csr<V, std::int32_t, host_array> matrix);

} // namespace furrow::csr_format
