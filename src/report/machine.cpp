// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/report.hpp>

#include "core/processor.hpp"
#include "core/units.hpp"
#include "tune/ceiling.hpp"

namespace furrow {

void add_machine(report_context& c, const solve_report& r, device where) {
  c.machine.insert(c.machine.end(), {{"processor", inspect_processor().name},
                                     {"memory", bytes_text(total_memory())},
                                     {"memory taken at the peak", bytes_text(peak_bytes())}});
  if (r.iterations > 0) c.ceiling = measure_read_ceiling(where, r.bytes_per_iteration);
}

} // namespace furrow
