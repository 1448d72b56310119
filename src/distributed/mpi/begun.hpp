// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow {

/// Which of the `ranks_begun()` this process is, as its starter says before MPI has begun; 0 where there is none.
int rank_begun();

} // namespace furrow
