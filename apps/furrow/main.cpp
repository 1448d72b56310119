// SPDX-License-Identifier: BSD-3-Clause
#include "begun_ranks.hpp"
#include "exit_code.hpp"
#include "help.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "run_words.hpp"
#include "subcommand.hpp"
#include "text.hpp"
#include "usage_errors.hpp"

#include "core/environment.hpp"
#include "distributed/mpi/begun.hpp"
#include "io/atomic_file.hpp"

#include <furrow/communicator.hpp>
#include <furrow/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sstream>
#include <string_view>
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

/// Subcommands that answer whatever the environment says: `doctor` and `help` tell what is wrong with it.
constexpr std::string_view without_work[] = {"completion", "doctor", "help", "version"};

void describe(CLI::App& app) {
  app.description("Sparse products and solvers at the speed of memory.");
  app.name("furrow");
  app.set_help_flag("-h,--help", "this text; 'furrow SUBCOMMAND -h' says more");
  app.set_version_flag("--version", fmt::format("furrow {}", version), "the version");
  app.require_subcommand(1);
  app.formatter(std::make_shared<help_text>());
  app.get_formatter()->column_width(26);
  app.footer(
      "Examples:\n"
      "  furrow info matrix.mtx                look at a matrix\n"
      "  furrow solve matrix.mtx -o x.mtx      solve A x = b\n"
      "  furrow spmv poisson3d:100 --check     time and check products\n"
      "\n"
      "'furrow help environment' lists the variables that Furrow listens to. An argument that begins with '-' stands\n"
      "behind '--'.\n"
      "\n"
      "Results go to stdout, remarks to stderr. Exit codes: 0 done, 1 stopped short, 2 usage, 3 bad input,\n"
      "4 device or memory, 5 internal, 130 interrupted, or 128 + another signal.");
}

bool json_is_wanted = false;
bool another_speaks = false; ///< this is a rank of MPI after the first, which says what there is to say

/// Says what went wrong: on stderr, and for --json as an object on stdout too, unless results are there already.
int fail(exit_code code, std::string_view what, std::string_view more = {}) noexcept {
  if (another_speaks) return done;
  remark(what, more);
  try {
    if (json_is_wanted && !something_is_printed())
      print(json_text({{"status", "error"}, {"exit_code", int(code)}, {"message", std::string(what).append(more)}}));
  } catch (...) {
    return code; // the sentence is on stderr
  }
  return code;
}

/// The only place where errors become text and an exit code: says what is being thrown.
int say_failure() noexcept {
  try {
    throw;
  } catch (const error& e) {
    return fail(code_of(e.kind), e.what());
  } catch (const std::bad_alloc&) {
    return fail(no_resource, "out of memory");
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(bad_input, e.what());
  } catch (const std::exception& e) {
    return fail(broken, "internal error: ", e.what());
  } catch (...) {
    return fail(broken, "internal error: an exception of an unknown kind");
  }
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

int run_words(std::vector<std::string> words) {
  CLI::App app;
  context shared{&app, {}, words};
  describe(app);
  std::map<const CLI::App*, std::function<int()>> run;
  for (const auto* s : table) {
    CLI::App* sub = declare(app, s->name, s->about);
    run[sub] = s->setup(*sub, shared);
  }
  refuse_empty_values(app);
  check_subcommands(app, words);
  check_equals(app, words);
  if (words.empty()) {
    put_on_stderr(app.help());
    return usage;
  }
  try {
    std::ranges::reverse(words); // CLI11 takes them from the end
    app.parse(std::move(words));
  } catch (const CLI::Success& e) { // help and version
    std::ostringstream text;
    app.exit(e, text, text);
    print(text.str());
    return done;
  } catch (const CLI::ParseError& e) {
    throw error(fault::usage, about_parse_error(app, e));
  }
  const CLI::App* const chosen = app.get_subcommands().front();
  if (std::ranges::find(without_work, chosen->get_name()) == std::end(without_work)) check_environment();
  return run.at(chosen)();
}

namespace {

/// Beside ranks that mpirun began with the same words. What fails here before they work together fails on all of them.
int run_with_others(const std::vector<std::string>& words) {
  const bool works = words.empty() || std::ranges::find(without_work, words.front()) == std::end(without_work);
  if (works && !meet_begun_ranks(words)) return done;
  try {
    return run_words(words);
  } catch (...) {
    fail_with_begun_ranks();
  }
}

} // namespace

int main(int count, char** words) {
  keep_streams_apart();
  try {
    another_speaks = count > 1 && std::string_view(words[1]) == "solve" && rank_begun() > 0 && ranks_begun() > 1;
    if (another_speaks) leave_without_a_word(); // before a starter's signal can be heard
    watch_for_signals();
    keep_host_memory(0); // so that the memory is what is said before work starts
    const std::vector<std::string> arguments(words + std::min(count, 1), words + count);
    const auto options_end = std::ranges::find(arguments, "--");
    json_is_wanted = std::find(arguments.begin(), options_end, "--json") != options_end;
    const int code = run_with_others(arguments);
    return code == interrupt ? interrupt_code() : code;
  } catch (...) {
    return say_failure();
  }
}

} // namespace furrow::cli

int main(int count, char** words) { return furrow::cli::main(count, words); }
