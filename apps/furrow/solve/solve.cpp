// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "nearest.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "played.hpp"
#include "played_text.hpp"
#include "progress_line.hpp"
#include "shell_command.hpp"
#include "solve_request.hpp"
#include "system.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "vectors.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"

#include <furrow/io.hpp>
#include <furrow/solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::cli::solve_command {
namespace {

/// What is known before the matrix is read: the rest is announced when its format is chosen.
memory_plan plan_of(const solve_request& q, const matrix_input& input) {
  const stats s = expected_stats(input.header());
  solve_options o = q.options;
  if (q.on_ranks() && o.precond.starts_with("local:")) o.precond.erase(0, 6); // of the block of each rank
  if (o.format == "auto") o.format = "csr", o.kernel = "auto";
  const auto solving = estimate_solve_memory(s, o.values, o);
  memory_plan plan;
  plan.read = q.on_ranks() ? input.load_bytes_on_ranks(q.share_of_ranks) : input.load_bytes();
  plan.work = q.share_of_ranks * solving.host + (q.coordinates.empty() ? 0 : 8 * double(s.shape.rows));
  plan.gpu = solving.gpu / double(std::max<std::size_t>(q.devices.size(), 1));
  return plan;
}

/// What several right-hand sides take beside the first one: b and x, and the blocks of `block_cg`.
double bytes_of_columns(const solve_request& q, shape2 shape, index_t count) {
  if (count == 1) return 0;
  const bool block = !q.options.where.is_gpu() && // on a GPU they lie there
                     (q.options.solver == "auto" || q.options.solver == "block_cg");
  const double vectors = double(count - 1) + (block ? 2 * double(std::min<index_t>(count, 16)) : 0);
  return 8 * vectors * double(shape.rows + shape.cols);
}

/// Where the nodes of a matrix of that many rows are: a line of the file for each.
std::shared_ptr<const node_coordinates> coordinates_from(const std::string& file, index_t rows) {
  if (file.empty()) return {};
  const vector_columns columns = read_vectors(file);
  const index_t dims = columns.count, nodes = columns.values.size() / std::max<index_t>(dims, 1);
  check(dims == 2 || dims == 3, fault::input, "{}: has {} column{}: --coordinates wants 2 or 3, a line for each node",
        file, dims, dims == 1 ? "" : "s");
  check(nodes * dims == rows, fault::input,
        "{}: has {} lines of {} coordinates, but the matrix has {} rows: --coordinates wants a line for each node of "
        "{} unknowns",
        file, nodes, dims, rows, dims);
  auto by_nodes = std::make_shared<node_coordinates>(node_coordinates{int(dims), host_array<double>(rows)});
  for (index_t i = 0; i < nodes; ++i)
    for (index_t d = 0; d < dims; ++d) by_nodes->values[i * dims + d] = columns.values[d * nodes + i];
  return by_nodes;
}
double bytes_of_coordinates(const solve_options& o) {
  return o.coordinates ? double(o.coordinates->values.byte_count()) : 0;
}

/// Copies of x for the one who keeps it, on this machine.
double bytes_of_checkpoints(const solve_request& q, shape2 shape) {
  return q.checkpoint.empty() ? 0 : 3 * q.share_of_ranks * 8 * double(shape.cols);
}

/// The relative residual that ends the solve.
double goal_of(const solve_options& o, system_to_solve& a, index_t column) {
  return o.atol > 0 ? std::max(o.rtol, o.atol / a.norm_of_right_hand_side(column)) : o.rtol;
}

void write_history(const std::vector<double>& history, const std::string& file) {
  std::string text = "iteration,relative_residual\n";
  for (std::size_t k = 0; k < history.size(); ++k) text += fmt::format("{},{}\n", k, history[k]);
  write_file(file, text);
}

/// Writes one of the outputs, whose name is in `file`. What fails is said and remembered, for the report is worth more
/// than its exit code, and does not name the file then.
void write_or_say(std::string& file, int& exit_code, const std::function<void(const std::string&)>& write) {
  if (file.empty()) return;
  try {
    return write(file);
  } catch (const error& e) {
    remark(e.what());
    exit_code = code_of(e.kind);
  } catch (const std::bad_alloc&) {
    remark(file, ": cannot be written: out of memory");
    exit_code = no_resource;
  }
  file.clear();
}

/// The column whose end counts most: by its exit code, then by its residual. One that was interrupted before it began
/// has no figures to show.
std::size_t worst_of(const std::vector<solve_report>& columns, bool square) {
  const auto rank = [&](const solve_report& r) {
    const double unknown = r.why == status::interrupted ? 0 : HUGE_VAL;
    return std::pair(code_of(r.why, square), std::isnan(r.relative_residual) ? unknown : r.relative_residual);
  };
  const auto worst = std::ranges::max_element(columns, {}, rank);
  return static_cast<std::size_t>(worst - columns.begin());
}

/// What is known when the solve is over.
struct answers {
  solve_outcome o;
  matrix_sketch drawn{};                       ///< of --report
  std::optional<polite_interrupts> politely{}; ///< until all is written
};

/// Reads and solves; on ranks this is what the first one does.
void read_and_solve(solve_request& q, const matrix_input& input, memory_plan plan, answers& found) {
  const double began = now();
  const auto a = q.on_ranks() ? read_on_ranks(q, input) : read_here(input);
  q.options.coordinates = coordinates_from(q.coordinates, a->shape.rows);
  found.o = {{}, a->shape, a->nnz, a->name, a->origin, {}, {}, 0, now() - began, plan.host_peak(), done};
  solve_outcome& o = found.o;
  a->take_right_hand_side(q.rhs, o.rhs);
  if (a->count > 1) check_ending(q.output, "-o", "an array of several answers", {".mtx", ".mtx.gz", ".npy"});
  a->begin_with(q.x0);
  const auto keeper = resume_and_keep(q, *a);
  if (!q.report.empty()) found.drawn = a->draw(q.options); // solving takes the matrix apart
  found.politely.emplace();
  {
    o.goal = goal_of(q.options, *a, 0);
    progress_line line(o.goal, stderr_is_live() && !q.json);
    bool has_x = false; // which is worth more than an end within a second: what is set up next may take longer
    q.options.watch = [&](const progress& now) {
      if (!has_x && now.iteration > 0) has_x = true, found.politely->finish_first();
      line.show(now);
      return !interrupted();
    };
    q.options.cancelled = [&] { return has_x && interrupted(); };
    q.options.announce = [&](const memory_estimate& solving) {
      plan.work = solving.host + bytes_of_columns(q, o.shape, a->count) + bytes_of_coordinates(q.options) +
                  bytes_of_checkpoints(q, o.shape);
      plan.gpu = solving.gpu;
      o.estimated_bytes = plan.host_peak();
      announce(plan, q.options.where);
    };
    a->solve(q, o);
    if (keeper) {
      q.checkpoint_failure.solving = false;
      if (const auto because = a->keep_last(*keeper, o.columns.front()); !because.empty())
        remark(q.checkpoint, ": the first rank writes for others: " + because);
      q.checkpoints = keeper->written();
    }
    found.politely->finish_first(); // one that comes now comes too late to matter
  }
  const std::size_t worst = worst_of(o.columns, o.shape.rows == o.shape.cols);
  for (const solve_report& r : o.columns) o.setup_seconds += r.setup_seconds, o.solve_seconds += r.solve_seconds;
  o.setup_parts = o.columns.front().setup_parts;
  o.report = o.columns[worst];
  o.goal = goal_of(q.options, *a, index_t(worst));
  if (a->count == 1) o.columns.clear();
  else o.report.warning = warning_of_columns(o.columns);
  // Of another shape x need not be the only answer.
  if (o.rhs == "ones" && o.shape.rows == o.shape.cols) o.error = a->distance_from_ones();
  o.exit_code = code_of(o.report.why, o.shape.rows == o.shape.cols);
  if (const auto& lost = q.checkpoint_failure.of_end) o.exit_code = code_of(*lost);
  write_or_say(q.output, o.exit_code, [&](const std::string& file) { a->write_x(file); });
  a->end(q);
}

void write_answers(solve_request& q, answers& found) {
  solve_outcome& o = found.o;
  write_or_say(q.history, o.exit_code, [&](const std::string& file) { write_history(o.report.history, file); });
  write_or_say(q.plot, o.exit_code, [&](const std::string& file) { write_file(file, plot_of(q, o)); });
  write_or_say(q.report, o.exit_code, [&](const std::string& file) {
    write_report(file, o.report, q.options, context_of(q, o, std::move(found.drawn)));
  });
}

std::string preconditioner_lines() {
  constexpr std::size_t column = 28;
  std::string lines = "Preconditioners:\n";
  for (const named& p : preconditioners()) {
    const auto name = fmt::format("{}{}", p.name, p.parameters);
    if (name.size() < column) lines += fmt::format("  {:<{}}{}\n", name, column, p.about);
    else lines += fmt::format("  {}\n  {:{}}{}\n", name, "", column, p.about);
  }
  return lines;
}

choosing choosing_of(solve_request& q) {
  return {q.options.format, q.options.kernel, q.options.tune, q.options.expected_products};
}

/// What --precond names: on ranks also "local:NAME".
void check_preconditioner(const solve_request& q) {
  const bool local = q.options.precond.starts_with("local:");
  check(!local || q.on_ranks(), fault::usage,
        "--precond {} is made of the block of each rank: say --ranks, or leave 'local:' out", q.options.precond);
  check_name("preconditioner", name_before_colon(local ? q.options.precond.substr(6) : q.options.precond),
             preconditioner_names());
}

void check_partition(const solve_request& q) {
  if (q.partition.empty()) return;
  check_name("partition", q.partition, {"rows", "metis"});
  check(q.on_ranks(), fault::usage,
        "--partition cuts rows among ranks, and there is one: say --ranks, or leave it out");
}

void check_explain(const solve_request& q) {
  if (!q.explain) return;
  check(q.options.solver == "auto", fault::usage,
        "--explain says what auto found, and --solver {} is named: leave one of the two out", q.options.solver);
  check(!q.json, fault::usage, "--explain writes lines for a person: leave it out beside --json");
}

/// FILE of block_jacobi:starts=FILE; empty for others.
std::string file_of_starts(std::string_view precond) {
  constexpr std::string_view starts = "block_jacobi:starts=", local = "local:";
  if (precond.starts_with(local)) precond.remove_prefix(local.size());
  return precond.starts_with(starts) ? std::string(precond.substr(starts.size())) : "";
}

/// Each against all inputs, and against the outputs that come after it.
void check_outputs(const solve_request& q) {
  const std::string none, blocks = file_of_starts(q.options.precond);
  struct output {
    const std::string& file;
    const char* option;
    const std::string& may_replace; ///< an input that it goes on from
  };
  const output outputs[] = {
      {q.checkpoint, "--checkpoint", q.resume}, {q.trace, "--trace", none}, {q.output, "-o", q.x0},
      {q.history, "--history", none},           {q.plot, "--plot", none},   {q.report, "--report", none}};
  for (const output* out = std::begin(outputs); out != std::end(outputs); ++out) {
    std::vector<std::string_view> others;
    for (const std::string* in : {&q.file, &q.rhs, &q.x0, &q.coordinates, &q.resume, &blocks})
      if (in != &out->may_replace) others.push_back(*in);
    for (const output* other = out + 1; other != std::end(outputs); ++other) others.push_back(other->file);
    check_output(out->file, out->option, others);
  }
}

/// Few systems have an x in f32 whose residual, in the numbers of A and b, is smaller than the rounding of one number.
void warn_of_rounding(const solve_request& q) {
  constexpr double unit = std::numeric_limits<float>::epsilon();
  const solve_options& o = q.options;
  if (!q.rtol_given || o.values != precision::f32 || o.atol > 0 || o.rtol >= unit) return;
  remark(fmt::format("--rtol {} is less than what f32 rounds off, {:.1e}: few systems get there; say --rtol 1e-6, or "
                     "--precision f64",
                     o.rtol, unit));
}

int run_here(solve_request& q) {
  check_name("solver", name_before_colon(q.options.solver), solver_names());
  check_preconditioner(q);
  check_partition(q);
  check_name("scaling", q.options.scale, {"none", "symmetric", "matching"});
  check_name("order", q.options.reorder, {"none", "rcm"});
  choosing_of(q).check({"auto"});
  if (!q.batch.empty()) return run_batch(q);
  check_matrix(q.file);
  const bool played = q.machine.where == "play";
  if (!played) check_not_played(q.play, q.trace);
  check(!played || !q.on_ranks(), fault::usage, "--device play plays the launches of one process: leave --ranks out");
  if (played) {
    check_threads_of_play(q.machine.thread_count);
    q.machine.where = "cpu";
  }
  if (q.on_ranks() && q.machine.where == "auto") q.machine.where = "cpu"; // where they are
  q.options.where = q.machine.apply();
  if (!played) choosing_of(q).check_runs(q.options.where, q.options.solver == "cg_tutorial");
  q.options.values = q.machine.values();
  q.settle_tolerance();
  check_one_standard_input({q.file, q.rhs, q.x0, q.coordinates});
  check_one_standard_output(q.json, {q.output, q.history, q.plot, q.report, q.trace});
  check_input(q.rhs, "-b");
  check_input(q.x0, "--x0");
  check_input(q.coordinates, "--coordinates");
  check_input(q.resume, "--resume");
  check_outputs(q);
  check_ending(q.output, "-o", "x", vector_endings());
  check_ending(q.history, "--history", "the history", {".csv", ".txt"});
  check_ending(q.plot, "--plot", "a picture", {".svg"});
  check_ending(q.report, "--report", "a report", {".html"});
  check_ending(q.trace, "--trace", "a picture", {".svg"});
  check_checkpoints(q);
  warn_of_rounding(q);
  if (played) return run_played(q);
  check_explain(q);
  const matrix_input input(q.file);
  memory_plan plan = plan_of(q, input);
  check_fits(plan, q.options.where);

  const std::string to[] = {q.output, q.history, q.plot,
                            q.report}; // as they were asked for: one that fails loses its name
  answers found;
  run_with_ranks(q, [&] { read_and_solve(q, input, plan, found); });
  write_answers(q, found);
  const solve_outcome& o = found.o;
  if (q.json) print(json_of(q, o));
  else print_beside({to[0], to[1], to[2], to[3]}, text_of(q, o));
  return o.exit_code;
}

int run(solve_request& q) {
  const ranks_wish wish = wish_for_ranks(q);
  q.threads_as_ranks = wish.threads, q.devices = wish.devices;
  if (!q.devices.empty()) q.machine.where = fmt::format("gpu:{}", q.devices.front().ordinal); // of the first rank
  return wish.mpi ? run_on_mpi(q, [&] { return run_here(q); }) : run_here(q);
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto q = std::make_shared<solve_request>();
  q->command = shell_command(shared.arguments);
  CLI::Option* const file = add_matrix(app, shared, q->file);
  const auto with_words = [&](CLI::Option* option, std::vector<std::string> words) {
    shared.words[option] = std::move(words);
  };

  const char* const system = "System";
  add_file(app, shared, "-b,--rhs", q->rhs,
           "right-hand sides, a column each (default: the one that came with the matrix, or A * ones)", system);
  add_file(app, shared, "--x0", q->x0, "what x begins with (default: 0)", system);
  add_file(app, shared, "--coordinates", q->coordinates,
           "where the nodes are, 2 or 3 columns: --precond amg:sa takes the motions of rigid bodies from them", system);
  add_file(app, shared, "-o,--output", q->output,
           "write x, also when the solver stopped short: .mtx, .npy, .petsc, .txt or .csv", system);

  add_file(app, shared, "--batch", q->batch,
           "in place of FILE: solve every matrix of this folder, beside it NAME_b; -o is a folder then", system)
      ->type_name("FOLDER")
      ->each([file](const std::string&) { file->required(false); });

  const auto* method = "Method";
  with_words(app.add_option("--solver", q->options.solver, "default auto: what the matrix asks for")
                 ->type_name("NAME")
                 ->group(method),
             solver_names());
  with_words(app.add_option("--precond", q->options.precond, "preconditioner, default auto; on ranks also local:NAME")
                 ->type_name("NAME")
                 ->group(method),
             preconditioner_names());
  with_words(
      app.add_option("--scale", q->options.scale,
                     "none (default), symmetric by the diagonal, or matching: a heavy diagonal, as MC64 finds it")
          ->type_name("NAME")
          ->group(method),
      {"none", "symmetric", "matching"});
  with_words(app.add_option("--reorder", q->options.reorder,
                            "order of rows and columns: none (default), or rcm, reverse Cuthill-McKee")
                 ->type_name("NAME")
                 ->group(method),
             {"none", "rcm"});
  app.add_option("--rtol", q->options.rtol, "converged when |b - A x| <= rtol |b| (default 1e-8, in f32 1e-5)")
      ->type_name("R")
      ->transform(from_to_below(0, 1))
      ->each([q](const std::string&) { q->rtol_given = true; })
      ->group(method);
  app.add_option("--atol", q->options.atol, "or when |b - A x| <= atol (default 0)")
      ->type_name("R")
      ->transform(real(0))
      ->group(method);
  app.add_flag("--assume-symmetric", q->options.assume_symmetric, "do not ask whether the matrix is symmetric")
      ->group(method);
  app.add_option("--time-limit", q->options.time_limit, "seconds of setting up and solving (default: no limit)")
      ->type_name("S")
      ->transform(real(0))
      ->group(method);
  app.add_option("--max-iterations", q->options.max_iterations, "default 10 x columns, at least 10000")
      ->type_name("N")
      ->transform(whole(1))
      ->group(method);

  const char* const checkpoints = "Checkpoints";
  add_file(app, shared, "--checkpoint", q->checkpoint, "keep x here while it is solved, to go on after a crash",
           checkpoints);
  app.add_option("--every", q->every, "seconds between checkpoints (default 60)")
      ->type_name("S")
      ->transform(real(0.01))
      ->group(checkpoints);
  add_file(app, shared, "--resume", q->resume, "go on from a checkpoint, on any device and number of ranks",
           checkpoints);

  q->machine.add(app, shared);
  q->machine.more_places = {"gpu:all", "play"};
  with_words(app.add_option("--ranks", q->ranks, "cut the rows among N threads, or among the processes of mpirun")
                 ->type_name("N|mpi")
                 ->group("Machine"),
             {"mpi"});
  with_words(app.add_option("--partition", q->partition, "how ranks cut the rows: rows (default), or metis")
                 ->type_name("NAME")
                 ->group("Machine"),
             {"rows", "metis"});
  with_words(
      app.add_option("--through", q->through,
                     "what GPUs of ranks talk through: auto (default), peer, which is each other's memory, nccl, "
                     "or host")
          ->type_name("WAY")
          ->group("Machine"),
      through_names());
  choosing_of(*q).add(app, shared, {"auto"});
  add_played(app, shared, q->play, q->trace);
  app.get_option("--device")
      ->description("auto, cpu, gpu, gpu:N, several GPUs (gpu:all or gpu:0,1), or play: a classic kernel without a GPU "
                    "(default auto)");

  add_json(app, q->json);
  app.get_option("--json")->group("Output");
  app.add_flag("--explain", q->explain, "say what auto found the matrix to be, and what it did not try")
      ->group("Output");
  add_file(app, shared, "--history", q->history, "write iteration,relative_residual as CSV", "Output");
  add_file(app, shared, "--plot", q->plot, "draw the residual over the iterations as SVG", "Output");
  add_file(app, shared, "--report", q->report, "write all that is known of the solve as one page of HTML", "Output");
  app.footer(
      preconditioner_lines() +
      "\nCtrl-C stops a solver within a second, a set-up behind it at its next step, and writes the best x so far\n"
      "where -o asks for it.\n\n"
      "Examples:\n"
      "  furrow solve matrix.mtx -b rhs.mtx -o x.mtx\n"
      "  furrow solve poisson3d:100 --rtol 1e-10 --history residuals.csv --plot residuals.svg\n"
      "  furrow solve matrix.mtx -b columns.npy --solver block_cg -o answers.npy\n"
      "  furrow solve matrix.mtx --precond amg:sa --coordinates nodes.mtx\n"
      "  furrow solve circuit.mtx --solver gmres:50 --precond ilut --scale matching --reorder rcm\n"
      "  furrow solve matrix.mtx --report matrix.html\n"
      "  furrow solve --batch systems -o answers\n"
      "  mpirun -n 4 furrow solve matrix.mtx\n"
      "  mpirun -n 4 furrow solve matrix.mtx --device gpu\n"
      "  furrow solve matrix.mtx --checkpoint run.ckpt --every 300\n"
      "  furrow solve matrix.mtx --resume run.ckpt --checkpoint run.ckpt\n"
      "  furrow solve matrix.mtx.gz --device gpu --json\n"
      "  furrow solve poisson3d:400 --device gpu:all\n"
      "  furrow solve poisson2d:20 --solver cg_tutorial --device play");
  return [q] { return run(*q); };
}

} // namespace

extern const subcommand entry{
    "solve", "Solve A x = b and say how good the answer is. Without -b, b is A * ones: the answer is known.", setup};

} // namespace furrow::cli::solve_command
