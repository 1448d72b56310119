// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow {

/// How a block of numbers lies in memory: row by row, or column by column.
enum class storage_order { row_major, col_major };

} // namespace furrow
