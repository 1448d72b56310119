// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "help.hpp"
#include "interrupt.hpp"
#include "nearest.hpp"
#include "subcommand.hpp"
#include "text.hpp"

#include "io/atomic_file.hpp"

#include <furrow/version.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sstream>
#include <unistd.h>

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

/// Throws `fault::usage`, with the nearest name, where a word stands for a subcommand that does not exist.
void check_subcommands(CLI::App& root, int count, char** words) {
  CLI::App* at = &root;
  for (int k = 1; k < count && words[k][0] != '-'; ++k) {
    std::vector<std::string> names;
    for (const auto* sub : at->get_subcommands([](const CLI::App*) { return true; })) names.push_back(sub->get_name());
    if (names.empty()) return;
    check_name(at == &root ? "subcommand" : fmt::format("'{}' subcommand", at->get_name()), words[k], names);
    at = at->get_subcommand(words[k]);
  }
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The subcommand that was being parsed, below it the subcommand of that one, and so on.
std::vector<const CLI::App*> parsed_path(const CLI::App& root) {
  std::vector<const CLI::App*> path;
  for (auto inner = root.get_subcommands(); !inner.empty(); inner = path.back()->get_subcommands())
    path.push_back(inner.front());
  return path;
}

/// "see 'furrow solve -h'" for the subcommand that was being parsed.
std::string where_help_is(const CLI::App& root) {
  std::string command = "furrow";
  for (const auto* app : parsed_path(root)) command += " " + app->get_name();
  return fmt::format("see '{} -h'", command);
}

/// The first word that nobody knows, in one sentence.
std::string about_extras(const CLI::App& root) {
  const auto path = parsed_path(root);
  const CLI::App* app = path.empty() ? &root : path.back();
  const std::string word = root.remaining(true).front();
  if (!word.starts_with("-")) return fmt::format("'{}' is one argument too many; {}", word, where_help_is(root));
  const std::string guess = nearest(word.substr(0, word.find('=')), names_of_options(*app));
  return fmt::format("there is no option '{}': {}{}", word,
                     guess.empty() ? "" : fmt::format("did you mean '{}'? ", guess), where_help_is(root));
}

/// What the parser says, in the manner of this program.
std::string about_parse_error(const CLI::App& root, const CLI::ParseError& e) {
  if (!root.remaining(true).empty()) return about_extras(root);
  std::string text = e.what();
  const std::string conversion = "Could not convert: ";
  if (text.starts_with(conversion)) { // "Could not convert: --rtol = abc"
    const std::size_t equals = text.find(" = ");
    text = fmt::format("{}: '{}' is not a number", text.substr(conversion.size(), equals - conversion.size()),
                       text.substr(equals + 3));
  }
  return fmt::format("{}; {}", text, where_help_is(root));
}

void describe(CLI::App& app) {
  app.description("Sparse products and solvers at the speed of memory.");
  app.name("furrow");
  app.set_help_flag("-h,--help", "this text; 'furrow SUBCOMMAND -h' says more");
  app.set_version_flag("--version", fmt::format("furrow {}", version), "the version");
  app.require_subcommand(1);
  app.formatter(std::make_shared<help_text>());
  app.get_formatter()->column_width(26);
  app.footer("Examples:\n"
             "  furrow info matrix.mtx                look at a matrix\n"
             "  furrow solve matrix.mtx -o x.mtx      solve A x = b\n"
             "  furrow spmv poisson3d:100 --check     time and check products\n"
             "\n"
             "Results go to stdout, remarks to stderr. Exit codes: 0 done, 1 stopped short, 2 usage, 3 bad input,\n"
             "4 device or memory, 5 internal, 130 interrupted, or 128 + another signal.");
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
  check_subcommands(app, count, words);
  if (count == 1) {
    put_on_stderr(app.help());
    return usage;
  }
  try {
    app.parse(count, words);
  } catch (const CLI::Success& e) { // help and version
    std::ostringstream text;
    app.exit(e, text, text);
    print(text.str());
    return done;
  } catch (const CLI::ParseError& e) {
    throw error(fault::usage, about_parse_error(app, e));
  }
  return run.at(app.get_subcommands().front())();
}

/// The only place where errors become text and an exit code: says what is being thrown.
int say_failure() noexcept {
  try {
    throw;
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
    remark("internal error: ", e.what());
  } catch (...) {
    remark("internal error: an exception of an unknown kind");
  }
  return broken;
}

/// What is thrown where nobody can catch it, as by the constants of a library before `main`, for want of memory.
[[noreturn]] void end_at_once() noexcept {
  io::remove_unfinished();
  _exit(std::current_exception() ? say_failure() : int(broken));
}

/// Before all constants, therefore with a priority.
[[gnu::constructor(101)]] void catch_what_nobody_catches() { std::set_terminate(end_at_once); }

/// A descriptor that the caller closed is put on /dev/null, in the direction in which it cannot be used: a file that is
/// opened later must not get its number, and what is meant for the stream.
void keep_streams_apart() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace

std::span<const subcommand* const> subcommands() { return table; }

int main(int count, char** words) {
  keep_streams_apart();
  watch_for_signals();
  try {
    keep_host_memory(0); // so that the memory is what is said before work starts
    const int code = parse_and_run(count, words);
    return code == interrupt ? interrupt_code() : code;
  } catch (...) {
    return say_failure();
  }
}

} // namespace furrow::cli

int main(int count, char** words) { return furrow::cli::main(count, words); }
