// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "memory.hpp"
#include "nearest.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include "core/counted.hpp"
#include "core/printable.hpp"

#include <furrow/generate.hpp>

#include <fmt/format.h>

namespace furrow::cli::generate_command {
namespace {

struct options {
  std::string spec, output, coordinates;
};

int run(const options& o) {
  matrix_ending(o.output);
  check_name("generator", o.spec.substr(0, o.spec.find(':')), bare_generators());
  check_one_standard_output(false, {o.output, o.coordinates});
  check_output(o.output, "-o", {o.coordinates});
  check_output(o.coordinates, "--coordinates");
  check_ending(o.coordinates, "--coordinates", "an array of coordinates", {".mtx", ".mtx.gz", ".npy"});
  vector_columns nodes;
  if (!o.coordinates.empty()) nodes = generator_coordinates(o.spec);
  memory_plan plan;
  const matrix_header head = generator_header(o.spec);
  plan.read = 16 * double(head.stored);
  plan.work = plan.read + write_bytes(o.output, head.shape, head.stored);
  announce(plan, {});
  const problem p = generate(o.spec);
  write_problem(p, o.output);
  if (!o.coordinates.empty()) write_vectors(as_cview(nodes.values), nodes.count, o.coordinates);
  if (is_standard_output(o.output) || is_standard_output(o.coordinates)) return done;
  print(fmt::format("{}: {} x {}, {}\n", printable(o.output), count_text(p.a.shape.rows), count_text(p.a.shape.cols),
                    counted_text(p.a.nnz(), "entry")));
  return done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  shared.words[app.add_option("SPEC", o->spec, "a generator with its arguments")->required()->type_name("")] =
      generator_names();
  shared.words[app.add_option("-o,--output", o->output, "the file to write: .mtx, .mtx.gz, .furrow or .petsc")
                   ->required()
                   ->type_name("FILE")] = {"<file>"};
  shared.words[app.add_option("--coordinates", o->coordinates,
                              "write where the nodes of elasticity3d are: .mtx, .mtx.gz or .npy")
                   ->type_name("FILE")] = {"<file>"};
  std::string list = "Generators:\n";
  for (const auto& g : generators()) list += fmt::format("  {:<36} {}\n", g.usage, g.about);
  app.footer(list + "\nExamples:\n"
                    "  furrow generate poisson3d:100 -o poisson.mtx\n"
                    "  furrow generate random:1000000:16:7 -o random.furrow    with the seed 7");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{"generate", "Make a matrix from a formula and write it to a file.", setup};

} // namespace furrow::cli::generate_command
