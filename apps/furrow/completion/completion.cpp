// SPDX-License-Identifier: BSD-3-Clause
#include "branch.hpp"
#include "exit_code.hpp"
#include "nearest.hpp"
#include "text.hpp"

#include <algorithm>

namespace furrow::cli {
namespace {

offers offers_of(const CLI::Option& option, const context& shared) {
  const auto found = shared.words.find(&option);
  if (found == shared.words.end()) return {};
  offers o{found->second, false};
  o.files = std::erase(o.words, "<file>") > 0;
  return o;
}

} // namespace

branch tree_of(const CLI::App& app, const context& shared) {
  branch b{app.get_name(), app.get_description(), {}, {}, {}};
  for (const auto* inner : apps_below(app)) b.below.push_back(tree_of(*inner, shared));
  for (const auto* option : app.get_options()) {
    offers o = offers_of(*option, shared);
    if (option->get_positional()) {
      b.positional.files = b.positional.files || o.files;
      for (auto& w : o.words)
        if (std::ranges::find(b.positional.words, w) == b.positional.words.end())
          b.positional.words.push_back(std::move(w));
      continue;
    }
    completed_option c{{}, option->get_description(), option->get_type_size() > 0, std::move(o)};
    for (const auto& n : option->get_snames()) c.names.push_back("-" + n);
    for (const auto& n : option->get_lnames()) c.names.push_back("--" + n);
    b.options.push_back(std::move(c));
  }
  return b;
}

namespace completion_command {
namespace {

std::function<int()> setup(CLI::App& app, context& shared) {
  auto shell = std::make_shared<std::string>();
  const std::vector<std::string> shells{"bash", "zsh", "fish"};
  shared.words[app.add_option("SHELL", *shell, "bash, zsh or fish")->required()->type_name("")] = shells;
  app.footer("Examples:\n"
             "  source <(furrow completion bash)\n"
             "  furrow completion bash > ~/.local/share/bash-completion/completions/furrow\n"
             "  furrow completion zsh > _furrow       in a folder of $fpath\n"
             "  furrow completion fish > ~/.config/fish/completions/furrow.fish");
  return [shell, shells, &shared] {
    check_name("shell", *shell, shells);
    const branch root = tree_of(*shared.root, shared);
    print(*shell == "bash" ? bash_script(root) : *shell == "zsh" ? zsh_script(root) : fish_script(root));
    return done;
  };
}

} // namespace

extern const subcommand entry{"completion", "Print a script that completes subcommands, options, names and files.",
                              setup};

} // namespace completion_command
} // namespace furrow::cli
