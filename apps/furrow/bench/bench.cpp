// SPDX-License-Identifier: BSD-3-Clause
#include "subcommand.hpp"

namespace furrow::cli {

// A bench is a folder below this one with a `const subcommand entry` in namespace furrow::cli::NAME_bench.
#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_bench {                                                                                             \
    extern const subcommand entry;                                                                                     \
  }
#include "benches.inc"
#undef FURROW_ENTRY

namespace bench_command {
namespace {

const subcommand* const table[] = {
#define FURROW_ENTRY(name) &name##_bench::entry,
#include "benches.inc"
#undef FURROW_ENTRY
};

std::function<int()> setup(CLI::App& app, context& shared) {
  std::map<const CLI::App*, std::function<int()>> run;
  app.require_subcommand(1);
  for (const auto* s : table) {
    CLI::App* sub = declare(app, s->name, s->about);
    run[sub] = s->setup(*sub, shared);
  }
  app.footer("Examples:\n"
             "  furrow bench spmv poisson3d:100 matrix.mtx -o results\n"
             "  furrow bench gemv --device gpu --cold\n"
             "  furrow bench paper --matrices FOLDER\n"
             "  furrow bench cg --device gpu");
  return [run, &app] { return run.at(app.get_subcommands().front())(); };
}

} // namespace

extern const subcommand entry{"bench", "Measure products in all formats, beside other libraries and published figures.",
                              setup};

} // namespace bench_command
} // namespace furrow::cli
