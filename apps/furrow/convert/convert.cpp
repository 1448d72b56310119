// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "matrix_input.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "output.hpp"
#include "text.hpp"

#include "core/counted.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace furrow::cli::convert_command {
namespace {

struct options {
  std::string input, output;
};

int run(const options& o) {
  matrix_ending(o.output);
  check_matrix(o.input);
  check_output(o.output, "OUT", {o.input});
  const matrix_input input(o.input);
  const matrix_header& head = input.header();
  const index_t nnz = expected_stats(head).nnz;
  memory_plan plan;
  plan.read = input.load_bytes();
  plan.work = 16 * double(nnz) + write_bytes(o.output, head.shape, nnz);
  announce(plan, {});
  const problem p = input.load();
  write_problem(p, o.output, o.input);
  if (is_standard_output(o.output)) return done;
  std::error_code none; // a pipe has no size
  const auto bytes = std::filesystem::file_size(o.output, none);
  print(fmt::format("{}: {} x {}, {}{}\n", printable(o.output), count_text(p.a.shape.rows), count_text(p.a.shape.cols),
                    counted_text(p.a.nnz(), "entry"), none ? "" : ", " + bytes_text(double(bytes))));
  return done;
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  auto& words = shared.words[app.add_option("IN", o->input, "a matrix or a generator")->required()->type_name("")] =
      generator_names();
  words.emplace_back("<file>");
  shared.words[app.add_option("OUT", o->output, "the file to write: .mtx, .mtx.gz, .furrow or .petsc")
                   ->required()
                   ->type_name("")] = {"<file>"};
  app.footer("A .furrow file is read back at the speed of the disk; a .petsc file is what MatLoad of PETSc takes.\n\n"
             "Examples:\n"
             "  furrow convert matrix.tar.gz matrix.furrow\n"
             "  furrow convert matrix.furrow matrix.mtx.gz\n"
             "  furrow convert matrix.mtx matrix.petsc");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{"convert", "Write a matrix in another file format; the ending of OUT says which.", setup};

} // namespace furrow::cli::convert_command
