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
/// Throws `fault::usage` where one of them was said without --device play.
void check_not_played(const std::string& play, const std::string& trace);

/// "warps of 32 lanes in ascending order"
std::string order_text(const play::settings& how);
/// What a kernel read and wrote, and what is wrong with it.
std::string table_of(const play::kernel_report& k);
json json_of(const play::kernel_report& k);
/// The settings, as members of an object.
void add_settings(json& to, const play::settings& how);

} // namespace furrow::cli
