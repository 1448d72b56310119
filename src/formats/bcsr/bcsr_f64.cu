// SPDX-License-Identifier: BSD-3-Clause
#include "bcsr_on_gpu.hpp"

namespace furrow::bcsr_format {

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);

} // namespace furrow::bcsr_format
