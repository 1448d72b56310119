// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "io/header.hpp"
#include "io/input.hpp"

#include <furrow/load_on_ranks.hpp>

/// The ways in which ranks come to their rows. All ranks call each of them; `a`, `begins` and, of a cache, `b` are set.
namespace furrow {

/// A coordinate file: each rank parses some of its pieces and deals the entries out.
part_of_problem load_text_part(communicator& c, const io::input& file, const io::head_lines& lines);

/// A cache: each rank reads its rows, once all have looked at where they begin.
part_of_problem load_cache_part(communicator& c, const io::input& file);

/// Each rank makes its rows.
part_of_problem make_part(communicator& c, const std::string& spec);

/// What rank 0 has whole, cut by entries.
part_of_problem scatter_whole(communicator& c, coo<double> a);

} // namespace furrow
