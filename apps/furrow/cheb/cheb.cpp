// SPDX-License-Identifier: BSD-3-Clause
#include "product_command.hpp"

namespace furrow::cli::cheb_command {
namespace {

struct part {
  const char *name, *about;
  std::function<int()> (*add)(CLI::App& app, context& shared);
};

constexpr part parts[] = {
    {"multiply", "The product of two Chebyshev series.", add_multiply},
    {"bench", "Time products by every algorithm, and show what the classic formula gives.", add_bench},
};

std::function<int()> setup(CLI::App& app, context& shared) {
  auto run = std::make_shared<std::map<const CLI::App*, std::function<int()>>>();
  for (const part& p : parts) {
    CLI::App* one = app.add_subcommand(p.name, p.about);
    one->set_help_flag("-h,--help", "this text");
    (*run)[one] = p.add(*one, shared);
  }
  app.require_subcommand(1);
  return [run, &app] { return run->at(app.get_subcommands().front())(); };
}

} // namespace

extern const subcommand entry{"cheb", "Chebyshev series.", setup};

} // namespace furrow::cli::cheb_command
