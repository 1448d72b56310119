// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "lesson.hpp"
#include "nearest.hpp"
#include "run_words.hpp"
#include "shell_command.hpp"
#include "subcommand.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <unistd.h>

namespace furrow::cli::teach_command {
namespace {

namespace fs = std::filesystem;

/// A folder of its own to work in, for examples whose commands hand on files.
class working_folder {
public:
  working_folder() : before_(fs::current_path()) {
    const char* const wish = std::getenv("TMPDIR");
    const std::string folder = wish && *wish ? wish : "/tmp";
    std::string name = folder + "/furrow-XXXXXX";
    check(mkdtemp(name.data()) != nullptr, fault::input, "{}: no folder can be made there for the example (TMPDIR): {}",
          printable(folder), std::strerror(errno));
    here_ = name;
    fs::current_path(here_);
  }
  ~working_folder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
    fs::remove_all(here_, ignored);
  }
  working_folder(const working_folder&) = delete;
  working_folder& operator=(const working_folder&) = delete;

private:
  fs::path before_, here_;
};

std::string list() {
  std::string text;
  for (const auto& l : lessons()) text += fmt::format("  {}  {}\n", bold(fmt::format("{:<13}", l.name)), l.about());
  return text + "\n'furrow teach NAME' explains one and runs it without a GPU.\n";
}

int run_example(const lesson& l) {
  const auto commands = l.commands();
  std::optional<working_folder> folder;
  if (commands.size() > 1) folder.emplace();
  for (const auto& words : commands) {
    print(fmt::format("\n{}\n", bold("$ " + shell_command(words))));
    if (const int code = run_words(words); code != done) return code;
  }
  return done;
}

/// Kernels whose pages have other names.
struct kernel_of_page {
  std::string_view kernel, page;
};
constexpr kernel_of_page kernels_of_pages[] = {
    {"naive", "half_warp"}, {"naive", "dense"},    {"tiled", "dense"},
    {"rows", "dia"},        {"segmented", "coo"},  {"thread", "chebyshev"},
    {"block", "chebyshev"}, {"warp", "chebyshev"}, {"block_sweep", "chebyshev"},
};

/// Throws `fault::usage` for a kernel that is no page itself, naming its page.
void check_kernel_of_page(const std::string& name) {
  std::vector<std::string> pages;
  for (const auto& k : kernels_of_pages)
    if (k.kernel == name) pages.push_back(fmt::format("'furrow teach {}'", k.page));
  check(pages.empty(), fault::usage, "there is no page '{}': {} tells of that kernel", name, fmt::join(pages, " or "));
}

int teach(const std::string& name, bool page) {
  if (name.empty()) {
    check(!page, fault::usage, "--page prints one page: name it");
    print(list());
    return done;
  }
  check_kernel_of_page(name);
  std::vector<std::string> names;
  for (const auto& l : lessons()) names.emplace_back(l.name);
  check_name("page", name, names);
  const lesson& l = *std::ranges::find(lessons(), name, &lesson::name);
  if (page) {
    print(l.page);
    return done;
  }
  std::string text = fmt::format("{}: {}\n", bold(l.name), l.about());
  for (const auto& paragraph : l.idea()) text += "\n" + wrapped(paragraph, std::min(terminal_width(), 100));
  print(text);
  const int code = run_example(l);
  if (code == done)
    print(fmt::format("\n'furrow teach {} --page' has the code as it stands, what these numbers say of it, and an "
                      "exercise.\n",
                      l.name));
  return code;
}

struct options {
  std::string name;
  bool page = false;
};

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  auto* const name = app.add_option("NAME", o->name, "a page (default: list them)")->type_name("");
  for (const auto& l : lessons()) shared.words[name].emplace_back(l.name);
  app.add_flag("--page", o->page, "print the whole page, as Markdown, and run nothing");
  app.footer("Examples:\n"
             "  furrow teach\n"
             "  furrow teach vector\n"
             "  furrow teach vector --page");
  return [o] { return teach(o->name, o->page); };
}

} // namespace

extern const subcommand entry{"teach", "Explain a classic kernel, and run it without a GPU.", setup};

} // namespace furrow::cli::teach_command
