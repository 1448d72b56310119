// SPDX-License-Identifier: BSD-3-Clause
// `furrow solve --batch FOLDER`: a table of verdicts, a system a line.
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "matrix_input.hpp"
#include "output.hpp"
#include "solve_request.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/printable.hpp"
#include "io/atomic_file.hpp"
#include "io/ending.hpp"
#include "report/words.hpp"
#include "solve/batch/each_system.hpp"
#include "solve/run.hpp"

#include <furrow/solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string_view>

namespace furrow::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> of_matrices{".mtx", ".tar", ".tgz", ".furrow", ".petsc"};
constexpr std::array<std::string_view, 5> of_vectors{".mtx", ".npy", ".petsc", ".txt", ".csv"};
constexpr std::array<std::string_view, 4> packings{".gz", ".bz2", ".xz", ".zst"};

/// Entries that are read before they are solved: what comes to more than this in a folder is taken in groups.
constexpr index_t most_entries = 1 << 24;

/// A system of the folder.
struct member {
  std::string name, file, rhs_file; ///< rhs_file: empty where none lies beside it
  std::string rhs{};
  shape2 shape{};
  index_t nnz = 0;
  coo<double> a{};
  host_array<double> b{}, x{};
  double read_seconds = 0, error = std::nan("");
  batch_outcome outcome{};
  int written = done;        ///< exit code of the writing of x
  std::string not_written{}; ///< why
};

/// "bcsstk01" and ".mtx" of "bcsstk01.mtx.gz".
std::pair<std::string, std::string> split(std::string_view file) {
  for (const auto packing : packings)
    if (io::has_ending(file, packing)) {
      file.remove_suffix(packing.size());
      break;
    }
  const std::size_t dot = file.rfind('.');
  if (dot == 0 || dot == file.npos) return {std::string(file), ""};
  return {std::string(file.substr(0, dot)), std::string(file.substr(dot))};
}

bool is_one(const std::array<std::string_view, 5>& endings, std::string_view of_file) {
  return std::ranges::any_of(endings, [&](auto ending) { return io::has_ending(of_file, ending); });
}

/// The systems of a folder by their names. NAME_b and NAME_x belong to NAME, where that is there. NAME_b of an ending
/// that no vector has is b only where none has one: NAME_b.txt~ is what an editor left beside NAME_b.txt. What cannot
/// be read, such as a link to nothing, says so when it is.
std::vector<member> members_of(const std::string& folder) {
  std::map<std::string, std::vector<std::string>> matrices, vectors, others;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const auto [name, ending] = split(entry.path().filename().native());
    const bool of_matrix = is_one(of_matrices, ending);
    std::error_code ignored;
    if (!of_matrix && entry.is_directory(ignored)) continue;
    if (name.ends_with("_b")) (is_one(of_vectors, ending) ? vectors : others)[name].push_back(entry.path().string());
    if (of_matrix) matrices[name].push_back(entry.path().string());
  }
  check(!failed, fault::input, "{}: cannot be read as a folder: {}", folder, failed.message());
  std::vector<member> found;
  for (auto& [name, files] : matrices) {
    const bool of_another =
        (name.ends_with("_b") || name.ends_with("_x")) && matrices.contains(name.substr(0, name.size() - 2));
    if (of_another) continue;
    std::vector<std::string>& beside = (vectors.contains(name + "_b") ? vectors : others)[name + "_b"];
    member& m = found.emplace_back();
    m.name = name, m.file = files.front(), m.rhs_file = beside.empty() ? "" : beside.front();
    for (auto* same : {&files, &beside})
      if (std::ranges::sort(*same); same->size() > 1)
        m.outcome.refused = error(fault::input, fmt::format("{} and {} have the same name: leave one of them in {}",
                                                            same->front(), same->back(), folder));
  }
  check(!found.empty(), fault::input, "{}: holds no matrix (.mtx, .tar.gz, .furrow, .petsc): name another folder",
        folder);
  return found;
}

fs::path answer_of(const solve_request& q, const member& m) { return fs::path(q.output) / (m.name + "_x.mtx"); }

/// No answer may replace what is still to be read, nor another one: a link may lead there.
void check_answers(const solve_request& q, const std::vector<member>& members) {
  if (q.output.empty()) return;
  std::map<fs::path, std::string> taken;
  const auto behind = [](const fs::path& file) {
    std::error_code ignored;
    return fs::weakly_canonical(io::behind_links(file), ignored); // also of a link to nothing
  };
  for (const member& m : members)
    for (const std::string& file : {m.file, m.rhs_file})
      if (!file.empty()) taken.emplace(behind(file), file);
  for (const member& m : members) {
    const std::string file = answer_of(q, m).string();
    check_output(file, "-o");
    const auto [other, free] = taken.emplace(behind(file), file);
    check(free, fault::usage, "{} and {} are the same file: choose another folder for -o", other->second, file);
  }
}

void read(member& m) {
  const double began = now();
  try {
    problem p = matrix_input(m.file).load();
    m.shape = p.a.shape, m.nnz = p.a.nnz();
    vector_columns b = right_hand_side(m.rhs_file, p, m.rhs);
    check(b.count == 1, fault::input, "{}: holds {} right-hand sides: a batch takes one of each system", m.rhs_file,
          b.count);
    m.b = std::move(b.values);
    m.x = host_array<double>(m.shape.cols, 0.0);
    m.a = std::move(p.a);
  } catch (const error& e) {
    m.outcome.refused = e;
  } catch (const std::bad_alloc&) {
    m.outcome.refused = error(fault::memory, m.file + ": out of memory");
  }
  m.read_seconds = now() - began;
}

/// What fails is said and remembered: the others are worth their answers.
void write(member& m, const fs::path& file) {
  try {
    write_vector(as_cview(m.x), file);
  } catch (const error& e) {
    remark(e.what());
    m.written = code_of(e.kind), m.not_written = e.what();
  }
}

/// Whether there is an x that somebody has begun to look for.
bool has_begun(const member& m) {
  const solve_report& r = m.outcome.report;
  const bool stopped = r.why == status::interrupted || r.why == status::max_iterations;
  return !m.outcome.refused && !(stopped && !report::has_residual(r));
}

/// Solves those that were read, and writes their answers.
void solve_group(const solve_request& q, std::span<member*> group) {
  system_source<double> systems;
  systems.count = std::ssize(group);
  systems.size = [&](index_t k) { return group[k]->shape.rows + group[k]->nnz; };
  systems.solve = [&](index_t k, const solve_options& o) {
    member& m = *group[k];
    return solver<double>(std::move(m.a), o).solve(as_cview(m.b), as_view(m.x));
  };
  systems.triplets = [&](index_t k) { return group[k]->a; };
  systems.b = [&](index_t k) { return as_cview(group[k]->b); };
  systems.x = [&](index_t k) { return as_view(group[k]->x); };
  auto outcomes = for_each_system(systems, q.options);
  for (std::size_t k = 0; k < group.size(); ++k) {
    member& m = *group[k];
    m.outcome = std::move(outcomes[k]);
    const bool known = !m.outcome.refused && report::has_residual(m.outcome.report);
    if (known && m.rhs == "ones" && m.shape.rows == m.shape.cols) {
      m.error = 0;
      for (const double v : m.x) m.error = std::abs(v - 1) <= m.error ? m.error : std::abs(v - 1);
    }
    if (!q.output.empty() && has_begun(m)) write(m, answer_of(q, m));
    m.a = {}, m.b = {}, m.x = {};
  }
}

int exit_code_of(const member& m) {
  const int solved = m.outcome.refused ? code_of(m.outcome.refused->kind)
                                       : code_of(m.outcome.report.why, m.shape.rows == m.shape.cols);
  return std::max(solved, m.written);
}

std::string line_of(const member& m, int width) {
  std::string text = fmt::format("  {:<{}}", printable(m.name), width);
  if (m.outcome.refused) return text + "  " + bad("refused") + ": " + m.outcome.refused->what() + "\n";
  const solve_report& r = m.outcome.report;
  const std::string verdict = fmt::format("{:<21}", name(r.why));
  text += fmt::format(" {:>11} {:>13}  {} {:>7} {:<10}  {:>9}  {:<13}  {:>9}  {}\n", count_text(m.shape.rows),
                      count_text(m.nnz), report::is_answer(r) ? good(verdict) : bad(verdict), count_text(r.iterations),
                      r.iterations == 1 ? "iteration" : "iterations",
                      report::has_residual(r) ? report::figure(r.relative_residual) : "",
                      r.error_estimate > 0 ? fmt::format("error {:.1e}", r.error_estimate) : "",
                      seconds_text(r.setup_seconds + r.solve_seconds), report::method(r.solver, r.precond));
  if (!report::is_answer(r)) text += line("ended", report::sentence(r.message));
  return r.warning.empty() ? text : text + line("warning", r.warning);
}

json json_of(const member& m, const solve_options& asked) {
  json j{{"matrix", m.name}, {"file", m.file}};
  const solve_report& r = m.outcome.report;
  if (m.outcome.refused) {
    j["status"] = "refused", j["message"] = m.outcome.refused->what(), j["exit_code"] = exit_code_of(m);
    return j;
  }
  j.update({{"status", name(r.why)},
            {"message", r.message},
            {"exit_code", exit_code_of(m)},
            {"rows", m.shape.rows},
            {"cols", m.shape.cols},
            {"nnz", m.nnz},
            {"rhs", m.rhs},
            {"iterations", r.iterations},
            {"relative_residual", report::has_residual(r) ? number(r.relative_residual) : json(nullptr)},
            {"relative_error", number(m.error)},
            {"solver", r.solver.empty() ? asked.solver : r.solver},
            {"precond", r.precond.empty() ? asked.precond : r.precond},
            {"condition_estimate", r.condition_estimate > 0 ? number(r.condition_estimate) : json(nullptr)},
            {"error_estimate", r.error_estimate > 0 ? number(r.error_estimate) : json(nullptr)},
            {"estimated_by", report::estimated_by(r, m.shape)},
            {"warning", r.warning},
            {"format", r.format},
            {"kernel", r.kernel},
            {"way", m.outcome.way},
            {"not_written", m.not_written},
            {"seconds", {{"read", m.read_seconds}, {"setup", r.setup_seconds}, {"solve", r.solve_seconds}}}});
  return j;
}

/// How many systems a launch took, of a GPU.
std::string launched(const std::vector<member>& members, device where) {
  if (!where.is_gpu()) return {};
  const auto count =
      std::ranges::count(members, "in one launch with others", [](const member& m) { return m.outcome.way; });
  return fmt::format(", {} in one launch with others", count_text(count));
}

/// What belongs to one system, or to another way of solving.
void check_batch(const solve_request& q) {
  const auto leave_out = [](bool given, std::string_view option) {
    check(!given, fault::usage, "--batch solves every matrix of a folder: leave {} out", option);
  };
  check(q.file.empty(), fault::usage, "--batch {} and {}: name a folder or a matrix, not both", q.batch, q.file);
  leave_out(!q.rhs.empty(), "-b");
  leave_out(!q.x0.empty(), "--x0");
  leave_out(!q.coordinates.empty(), "--coordinates");
  leave_out(q.options.scale != "none", "--scale");
  leave_out(q.options.reorder != "none", "--reorder");
  leave_out(!q.history.empty(), "--history");
  leave_out(!q.plot.empty(), "--plot");
  leave_out(!q.checkpoint.empty(), "--checkpoint");
  leave_out(!q.resume.empty(), "--resume");
  leave_out(q.every != 0, "--every");
  leave_out(!q.report.empty(), "--report");
  leave_out(q.machine.where == "play", "--device play");
  leave_out(!q.play.empty(), "--play");
  leave_out(!q.trace.empty(), "--trace");
  leave_out(q.devices.size() > 1, "--device with several GPUs");
  leave_out(!q.ranks.empty(), "--ranks");
  check(!q.of_mpi, fault::usage, "--batch solves every matrix of a folder in one process: start it without mpirun");
  leave_out(q.explain, "--explain");
  std::error_code ignored;
  check(fs::is_directory(q.batch, ignored), fault::input, "{}: is no folder: --batch wants one with matrices", q.batch);
  check(q.output.empty() || fs::is_directory(q.output, ignored), fault::input,
        "{}: is no folder: with --batch, -o names one that is there, for a file NAME_x.mtx each", q.output);
}

} // namespace

int run_batch(solve_request& q) {
  check_batch(q);
  std::vector<member> members = members_of(q.batch);
  check_answers(q, members);
  q.options.where = q.machine.apply();
  q.options.values = q.machine.values();
  q.settle_tolerance();
  q.options.history = false;
  const double began = now();
  polite_interrupts politely;
  politely.finish_first(); // a long read or set-up, too: the others have their answers
  q.options.watch = [](const progress&) { return !interrupted(); };
  q.options.cancelled = [] { return interrupted(); };

  int width = 16;
  for (const member& m : members) width = std::max(width, std::min(int(m.name.size()), 40));
  if (!q.json)
    print(fmt::format("{}  {} system{}\n", bold(printable(q.batch)), count_text(std::ssize(members)),
                      members.size() == 1 ? "" : "s"));
  json list = json::array();
  int worst = done;
  index_t solved = 0;
  const double time_limit = q.options.time_limit;
  double spent = 0; ///< on solving
  for (auto next = members.begin(); next != members.end();) {
    const auto first = next;
    std::vector<member*> group;
    for (index_t entries = 0; next != members.end() && entries < most_entries; ++next) {
      const bool stop = interrupted(), late = spent > time_limit;
      if (stop || late) next->outcome.report = stop ? not_begun() : no_time_to_begin();
      if (stop || late || next->outcome.refused) continue;
      read(*next);
      entries += next->nnz;
      if (!next->outcome.refused) group.push_back(&*next);
    }
    q.options.time_limit = std::max(0.0, time_limit - spent);
    const double before = now();
    solve_group(q, group);
    spent += now() - before;
    for (auto m = first; m != next; ++m) {
      worst = std::max(worst, exit_code_of(*m)), solved += exit_code_of(*m) == done;
      if (q.json) list.push_back(json_of(*m, q.options));
      else print(line_of(*m, width));
    }
  }
  const double seconds = now() - began;
  if (q.json)
    print(json_text({{"folder", q.batch},
                     {"systems", std::move(list)},
                     {"solved", solved},
                     {"device", describe(q.options.where)},
                     {"threads", threads()},
                     {"seconds", seconds}}));
  else
    print(fmt::format("{} of {} solved{}, {}\n", count_text(solved), count_text(std::ssize(members)),
                      launched(members, q.options.where), seconds_text(seconds)));
  return worst;
}

} // namespace furrow::cli
