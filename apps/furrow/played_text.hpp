// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "output.hpp"
#include "subcommand.hpp"

#include "backends/gpu/play/report.hpp"

namespace furrow::cli {

/// --play and --trace, and "play" as a word of --device, which the app has already.
void add_played(CLI::App& app, context& shared, std::string& play, std::string& trace);

/// What was said with --play ("wave=64,order=random,seed=3") and --trace. Throws `fault::usage`.
play::settings parse_play(const std::string& words, const std::string& trace);
/// Throws `fault::usage` where --threads was said, which play has no use for.
void check_threads_of_play(int thread_count);
/// The same of --repeat, --no-ceiling and --check.
void check_measuring_of_play(int repeat, bool ceiling, bool compared);
/// Throws `fault::usage` where one of them was said without --device play.
void check_not_played(const std::string& play, const std::string& trace);

/// "warps of 32 lanes in ascending order"
std::string order_text(const play::settings& how);
/// What a kernel read and wrote, and what is wrong with it.
std::string table_of(const play::kernel_report& k);
json json_of(const play::kernel_report& k);
/// The settings, as members of an object.
void add_settings(json& to, const play::settings& how);

/// A product that was played: the kernels that it takes, and the largest row error of its y.
struct played_result {
  std::string format, kernel;
  double row_error = 0;
  std::vector<play::kernel_report> kernels;
};
std::string text_of(const std::vector<played_result>& results);
json json_of(const std::vector<played_result>& results);
/// Draws the first kernel of the first result into `trace`, where that is a name; `what` was multiplied.
void draw_trace(const std::string& trace, const std::string& what, const std::vector<played_result>& results);
/// Throws `fault::internal` for a fault of a kernel, and for a row that is off.
void check_results(const std::vector<played_result>& results);

} // namespace furrow::cli
