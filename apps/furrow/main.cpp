// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "interrupt.hpp"
#include "nearest.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include <furrow/version.hpp>

#include <fmt/format.h>

#include <new>

namespace furrow::cli {

#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_command {                                                                                           \
    extern const subcommand entry;                                                                                     \
  }
#include "subcommands.inc"
#undef FURROW_ENTRY

namespace {

const subcommand* const table[] = {
#define FURROW_ENTRY(name) &name##_command::entry,
#include "subcommands.inc"
#undef FURROW_ENTRY
};

std::vector<std::string> names_of_subcommands() {
  std::vector<std::string> names;
  for (const auto* s : table) names.emplace_back(s->name);
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The first word that nobody knows, in one sentence.
std::string about_extras(const CLI::App& root) {
  const CLI::App* app = &root;
  for (const auto* sub : root.get_subcommands()) app = sub;
  const auto extras = root.remaining(true);
  const std::string word = extras.empty() ? "" : extras.front();
  const std::string help = fmt::format("see '{} -h'", app == &root ? "furrow" : "furrow " + app->get_name());
  if (!word.starts_with("-")) return fmt::format("'{}' is one argument too many; {}", word, help);
  const std::string guess = nearest(word.substr(0, word.find('=')), names_of_options(*app));
  return fmt::format("there is no option '{}': {}{}", word,
                     guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess), help);
}

void describe(CLI::App& app) {
  app.description("Sparse products and solvers at the speed of memory.");
  app.name("furrow");
  app.set_help_flag("-h,--help", "this text; 'furrow SUBCOMMAND -h' says more");
  app.set_version_flag("--version", fmt::format("furrow {}", version), "the version");
  app.require_subcommand(1);
  app.get_formatter()->column_width(32);
  app.get_formatter()->label("SUBCOMMAND", "SUBCOMMAND");
  app.get_formatter()->label("OPTIONS", "OPTIONS");
  app.footer("Examples:\n"
             "  furrow info matrix.mtx                look at a matrix\n"
             "  furrow solve matrix.mtx -o x.mtx      solve A x = b\n"
             "  furrow spmv poisson3d:100 --check     time and check products\n"
             "\n"
             "Results go to stdout, remarks to stderr. Exit codes: 0 done, 1 stopped short, 2 usage, 3 bad input,\n"
             "4 device or memory, 5 internal, 130 interrupted.");
}

int parse_and_run(int count, char** words) {
  CLI::App app;
  context shared{&app, {}};
  describe(app);
  std::map<const CLI::App*, std::function<int()>> run;
  for (const auto* s : table) {
    CLI::App* sub = app.add_subcommand(std::string(s->name), std::string(s->about));
    sub->set_help_flag("-h,--help", "this text");
    run[sub] = s->setup(*sub, shared);
  }
  if (count > 1 && words[1][0] != '-') check_name("subcommand", words[1], names_of_subcommands());
  if (count == 1) {
    fmt::print(stderr, "{}", app.help());
    return usage;
  }
  try {
    app.parse(count, words);
  } catch (const CLI::Success& e) { // help and version
    return app.exit(e) == 0 ? done : broken;
  } catch (const CLI::ExtrasError&) {
    throw error(fault::usage, about_extras(app));
  } catch (const CLI::ParseError& e) {
    if (!app.remaining(true).empty()) throw error(fault::usage, about_extras(app));
    throw error(fault::usage, e.what());
  }
  return run.at(app.get_subcommands().front())();
}

} // namespace

std::span<const subcommand* const> subcommands() { return table; }

/// The only place where errors become text and an exit code.
int main(int count, char** words) {
  watch_for_interrupts();
  try {
    return parse_and_run(count, words);
  } catch (const error& e) {
    remark(e.what());
    return code_of(e.kind);
  } catch (const std::bad_alloc&) {
    remark("out of memory");
    return no_resource;
  } catch (const std::filesystem::filesystem_error& e) {
    remark(e.what());
    return bad_input;
  } catch (const std::exception& e) {
    remark(fmt::format("internal error: {}", e.what()));
    return broken;
  }
}

} // namespace furrow::cli

int main(int count, char** words) { return furrow::cli::main(count, words); }
