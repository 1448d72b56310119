// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subcommand.hpp"

#include <furrow/chebyshev/series.hpp>

#include <optional>
#include <string>

namespace furrow::cli::cheb_command {

/// A file of a series: a coefficient a line, lowest degree first, behind a comment "% interval: LO,HI" where the
/// interval is known.
struct series_file {
  std::string name;
  host_array<double> coefficients;
  std::optional<chebyshev::interval> on; ///< what the file or --on says

  /// The interval that is meant: [-1, 1] where nothing says another one.
  chebyshev::interval interval() const { return on.value_or(chebyshev::interval{}); }
};

/// `on`: the text of --on, or nothing. Throws `fault::input` for a file without coefficients and for an interval that
/// cannot be understood, `fault::usage` where file and --on do not agree.
series_file read_series_file(const std::string& name, const std::string& on);
/// The same as a series; throws `fault::input` for coefficients that are not finite.
chebyshev::series read_series(const std::string& name, const std::string& on);

/// The text of such a file, in shortest digits that read back as the same bits.
template <class V> std::string series_text(cview<V> coefficients, const std::optional<chebyshev::interval>& on);
/// Throws `fault::input` where the file cannot be written.
void write_text(const std::string& text, const std::string& file);

/// --on LO,HI of a command that reads series.
void add_interval_of_file(CLI::App& app, std::string& on);

} // namespace furrow::cli::cheb_command
