// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "options.hpp"
#include "output.hpp"

#include <furrow/checkpoint.hpp>
#include <furrow/io.hpp>
#include <furrow/ranks.hpp>
#include <furrow/report.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace furrow::cli {

class system_to_solve;

/// What a person asked `furrow solve` for.
struct solve_request {
  std::string file, rhs, x0, coordinates, output, history, plot, report;
  std::string checkpoint, resume;
  double every = 0;                            ///< seconds between checkpoints; 0: nobody said
  std::optional<furrow::checkpoint> resumed{}; ///< what was resumed, without its x
  index_t checkpoints = 0;                     ///< written
  struct {
    bool solving = true;           ///< the solve is not over
    std::string why{};             ///< the last one that could not be written; empty: all were
    std::optional<fault> of_end{}; ///< that one is the last of all
  } checkpoint_failure;
  std::string play, trace; ///< of --device play
  std::string batch;       ///< a folder, in place of `file`
  std::string command;     ///< the whole of it, as a shell takes it
  machine_options machine;
  solve_options options;
  bool json = false, explain = false;
  bool rtol_given = false;
  std::string ranks;                  ///< a number, "mpi" or nothing
  std::string partition;              ///< "rows", "metis" or nothing: rows
  std::string through;                ///< "auto", "peer", "nccl", "host" or nothing: auto
  int threads_as_ranks = 0;           ///< how many; 0: none
  std::vector<device> devices{};      ///< a GPU for each rank; empty: they compute on processors
  communicator* of_mpi = nullptr;     ///< the ranks of MPI; null: none
  communicator* ranks_here = nullptr; ///< those of MPI, or threads while they run
  double share_of_ranks = 1;          ///< that run on this machine
  bool met = false;                   ///< the other ranks of MPI: they have ended, and wait for nothing
  /// Of what nobody asked for, single precision gets what it can hold.
  void settle_tolerance() {
    if (!rtol_given && options.values == precision::f32) options.rtol = 1e-5;
  }
  bool on_ranks() const { return threads_as_ranks > 0 || of_mpi; }
};

/// What came out.
struct solve_outcome {
  solve_report report; ///< of the worst right-hand side
  shape2 shape;
  index_t nnz = 0;
  std::string name, origin, rhs; ///< rhs: "ones", "random", "stored" or a file
  std::optional<double> error;   ///< max |x_i - 1| where b = A * ones and A is square
  double goal = 0;               ///< the relative residual that ends the solve
  double read_seconds = 0, estimated_bytes = 0;
  int exit_code = 0;
  std::vector<solve_report> columns{};         ///< of each right-hand side, where there are several
  double setup_seconds = 0, solve_seconds = 0; ///< of all of them
  std::vector<setup_part> setup_parts{};       ///< of the first one, which sets up for all
  std::vector<rank_part> parts{};              ///< of each rank; empty: there are none
  std::string_view partition{};                ///< who cut the rows for them
  index_t cut = 0;                             ///< entries that couple two ranks
  std::string way{};                           ///< what their GPUs talk through
  std::string gathered{};                      ///< why the first rank has solved alone; empty: it has not
  index_t rungs_together = 0;                  ///< of the rungs, those that all ranks have climbed
};

/// b as asked for: the columns of `file`, where it is none what came with the matrix, A * ones, or where that is zero A
/// times a random vector. Says in `rhs` which.
vector_columns right_hand_side(const std::string& file, problem& p, std::string& rhs);

/// `furrow solve --batch FOLDER`. Returns the exit code.
int run_batch(solve_request& request);

/// The reports of several right-hand sides: a line for each, and an object for each.
std::string columns_text(const solve_outcome& outcome);
json columns_json(const solve_outcome& outcome);
/// How many right-hand sides have a warning, and the first one of them; empty where none has.
std::string warning_of_columns(const std::vector<solve_report>& columns);

/// Takes `ranks`, the device and `through` apart. Throws `fault::usage` for what is neither a number nor "mpi", for a
/// number inside mpirun or beside several GPUs, and for a way between GPUs where no ranks have them; `fault::device`
/// for GPUs that are not there.
struct ranks_wish {
  int threads = 0;
  bool mpi = false;
  std::vector<device> devices{}; ///< of each thread, where they have GPUs
};
ranks_wish wish_for_ranks(const solve_request& request);
/// The words of --through.
std::vector<std::string> through_names();
/// Opens the ranks of MPI, each with a GPU of its machine where the device is one; `run` is for the first one, which
/// reads, writes and reports. Returns its exit code; that of the others is 0, for a starter that sees another one ends
/// the first before it has said why.
int run_on_mpi(solve_request& request, const std::function<int()>& run);
/// Runs `work` on the first rank, `request.ranks_here` set: of as many threads as were asked for, of MPI, or alone.
void run_with_ranks(solve_request& request, const std::function<void()>& work);
/// Who the ranks are: "2 on gpu:0 and gpu:1, through peer memory".
std::string who_ranks_are(const solve_request& request, const solve_outcome& outcome);
/// A line about what the ranks have, and the same as objects.
std::string ranks_text(const solve_request& request, const solve_outcome& outcome);
json ranks_json(const solve_outcome& outcome);

/// Refuses options of checkpoints that contradict others.
void check_checkpoints(const solve_request& request);
/// Reads x from --resume, and makes who writes --checkpoint while `request.options` solve; null: nobody does.
std::unique_ptr<checkpoint_keeper> resume_and_keep(solve_request& request, system_to_solve& a);
/// Lines about them; and what was resumed as an object.
std::string checkpoint_text(const solve_request& request);
json resumed_json(const solve_request& request);

/// The report for a person, and the object for a program.
std::string text_of(const solve_request& request, const solve_outcome& outcome);
std::string json_of(const solve_request& request, const solve_outcome& outcome);
/// The curve of the residuals as an SVG picture, with the goal and the verdict.
std::string plot_of(const solve_request& request, const solve_outcome& outcome);
/// What --report says beside the report of the solver.
report_context context_of(const solve_request& request, const solve_outcome& outcome, matrix_sketch matrix);

} // namespace furrow::cli
