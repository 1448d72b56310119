// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/io.hpp>
#include <furrow/ranks.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// A problem of which each rank has its rows.
struct part_of_problem {
  coo<double> a;                       ///< rows of this rank, numbered from 0 on, with the columns of the whole matrix
  std::vector<index_t> begins;         ///< where the rows of each rank begin, and the end
  index_t entries = 0;                 ///< of all ranks
  std::optional<host_array<double>> b; ///< of rank 0 alone: the right-hand side that came with the matrix, whole
  std::string name, origin;            ///< as of `problem`
  std::string first_because; ///< why rank 0 read the matrix for all; empty: each rank has read or made its part
};

/// `load` on ranks: rows are cut as `solve_from_first` cuts them, with the same bits, and no rank has the whole matrix.
/// A text of Matrix Market in a plain file, `coordinate`, is parsed by all ranks, each its bytes of it; entries go to
/// the ranks that have their rows. Of a `.furrow` file each rank reads its rows, and of a generator it makes them. What
/// is packed, dense, an archive, PETSc's or comes from a pipe, and a file that not all ranks find, rank 0 reads and
/// sends: `first_because` says why.
///
/// What ranks other than 0 give is not looked at. `opened`: the file of that name, where it has been opened. All ranks
/// call it. Throws what `load` throws, the same sentence on all ranks; `fault::memory` where the ranks of a machine
/// need more than it has. Peak memory: 32 bytes an entry of a general text, 24 of a symmetric one, 17 of a cache, 16 of
/// a generator, of the rank's share, and 8 a row between the first and the last that its bytes of a text name.
part_of_problem load_on_ranks(communicator& c, std::string_view file_or_spec, const source* opened = nullptr);

/// Peak bytes of `load_on_ranks`, but for rows, of a file with this head, or null: of a generator, on a machine with
/// this share of the ranks, rank 0 among them.
double estimate_load_on_ranks(const source* from, const matrix_header& head, double share = 1);

/// `solve_from_first` for a matrix whose rows the ranks have: b, x and the options are rank 0's. Takes `rows` apart. By
/// `partition::metis` rank 0 has the graph, 8 bytes an entry and what METIS takes; entries go to the ranks that it
/// gives their rows.
template <class V>
ranks_report solve_rows_from_first(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options,
                                   partition how = partition::rows);

/// The same for a b and an x of which each rank has the elements of its rows, `begins` of `load_on_ranks`; no rank has
/// one of them whole, but for what the monitor of the options is shown. By `partition::metis` too x comes back in those
/// parts.
template <class V>
ranks_report solve_rows_in_parts(communicator& c, coo<V> rows, cview<V> b, view<V> x, const solve_options& options,
                                 partition how = partition::rows);

/// `read_vector` on ranks: each gets the numbers of its rows, `rows` many. Rank 0 reads and sends batches of 8 MB at
/// most, from any kind of file and from pipes; it has the whole of a list of places alone. `from`: rank 0's. All ranks
/// call it. Throws what `read_vector` throws, and `fault::usage` for several columns, the same on all ranks.
host_array<double> read_vector_on_ranks(communicator& c, const source* from, index_t rows);

/// Writes a vector, `mine` of each rank in their order, as `write_vector` writes it whole: the same bytes, and whole or
/// not at all. `file`: rank 0's. Each rank makes its share of the text and puts it at its place in one file, which rank
/// 0 has begun beside the target and renames at the end. For a rank that cannot open that one, as on a machine with
/// another disk, rank 0 writes, piece by piece of 0.9 MB at most, and so it does for all into what has no places, as a
/// pipe. Returns the sentence about the first such rank; empty: there is none, or it is a pipe. All ranks call it.
/// Throws what `write_vector` throws, the same on all ranks. Peak memory: of texts 26 bytes a number of the rank's
/// part, otherwise two pieces.
std::string write_vector_on_ranks(communicator& c, cview<double> mine, const std::filesystem::path& file);

/// Rows of all ranks on rank 0, as one matrix; nothing on the others. Throws `fault::memory` on all where it does not
/// fit.
coo<double> gather_on_first(communicator& c, const coo<double>& rows);
/// Parts of a vector on rank 0, as a whole; nothing on the others.
host_array<double> gather_on_first(communicator& c, cview<double> mine);

} // namespace furrow
