// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"
#include "product_command.hpp"

namespace furrow::cli::cheb_command {
namespace {

struct part {
  const char *name, *about;
  std::function<int()> (*add)(CLI::App& app, context& shared);
};

constexpr part parts[] = {
    {"fit", "The shortest Chebyshev series of a function, to rounding or to a tolerance.", add_fit},
    {"eval", "Values of a series.", add_eval},
    {"roots", "Real roots of a series or of a function in an interval.", add_roots},
    {"multiply", "The product of two series.", add_multiply},
    {"bench", "Time products by every algorithm, and show what the classic formula gives.", add_bench},
    {"density", "How the eigenvalues of a symmetric matrix are spread, without working them out.", add_density},
};

std::function<int()> setup(CLI::App& app, context& shared) {
  auto run = std::make_shared<std::map<const CLI::App*, std::function<int()>>>();
  for (const part& p : parts) {
    CLI::App* one = declare(app, p.name, p.about);
    (*run)[one] = p.add(*one, shared);
  }
  app.require_subcommand(1);
  app.footer(
      "A file of a series holds one coefficient a line, lowest degree first, in the plain convention sum a_k T_k.\n"
      "A comment before them, '% interval: LO,HI', says where the series lives.\n\n"
      "Examples:\n"
      "  furrow cheb fit 'exp(sin(5*x))' --on -1,1 -o f.txt\n"
      "  furrow cheb eval f.txt --at 0,0.5\n"
      "  furrow cheb roots 'cos(20*x)' --on 0,1\n"
      "  furrow cheb density poisson3d:30 --json");
  return [run, &app] { return run->at(app.get_subcommands().front())(); };
}

} // namespace

extern const subcommand entry{"cheb", "Chebyshev series: of functions, and of matrices.", setup};

} // namespace furrow::cli::cheb_command
