// SPDX-License-Identifier: BSD-3-Clause
#include "on_device.hpp"

namespace furrow {

template class iteration<cpu::space<double>>;
template class iteration<cpu::space<float>>;

} // namespace furrow
