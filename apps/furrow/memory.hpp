// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>
#include <furrow/io.hpp>

#include <string>

namespace furrow::cli {

/// What a matrix will be, from its head alone.
stats expected_stats(const matrix_header& head);

/// Bytes of the work, phase by phase; the phases follow each other, so the peak is the largest of them.
struct memory_plan {
  double base = resident_bytes(); ///< the program itself
  double read = 0, work = 0, gpu = 0;
  double host_before = 0; ///< what the host had for us when `check_fits` asked; 0: nobody did

  double host_peak() const { return base + (read > work ? read : work); }
  static double resident_bytes();
};

/// Bytes beside the triplets while a matrix is written: the text of some pieces, and offsets for the search for
/// symmetry.
double write_bytes(const std::string& file, shape2 shape, index_t nnz);

/// Throws `fault::memory` where the estimate is more than what is available.
void check_fits(memory_plan& plan, device where);

/// Says the estimate in one line on stderr; throws `fault::memory` where it is more than what is available. Of less
/// than a 64th of what `check_fits` found the host is not asked again: its answer takes as long as a system of 20 rows.
void announce(const memory_plan& plan, device where);

} // namespace furrow::cli
