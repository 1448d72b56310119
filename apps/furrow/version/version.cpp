// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include <furrow/version.hpp>

#include <fmt/format.h>

namespace furrow::cli::version_command {
namespace {

std::function<int()> setup(CLI::App& app, context&) {
  app.footer("Examples:\n"
             "  furrow version");
  return [] {
    print(fmt::format("furrow {}\n", version));
    return done;
  };
}

} // namespace

extern const subcommand entry{"version", "Print the version.", setup};

} // namespace furrow::cli::version_command
