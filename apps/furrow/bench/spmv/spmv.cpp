// SPDX-License-Identifier: BSD-3-Clause
#include "bench/spmv/campaign.hpp"
#include "numbers.hpp"
#include "options.hpp"

#include "core/check.hpp"
#include "io/ending.hpp"

#include <algorithm>
#include <filesystem>

namespace furrow::cli::spmv_bench {
namespace {

struct options {
  std::vector<std::string> files;
  std::string formats = "all", kernel = "all";
  machine_options machine;
  campaign_options campaign;
};

std::vector<wish> wishes_of(const options& o) {
  std::vector<wish> wishes;
  for (const auto& format : items_of(o.formats, "--format")) wishes.push_back({format, o.kernel});
  check_wishes(wishes);
  return wishes;
}

/// A folder stands for the matrices in it.
std::vector<std::string> matrices_of(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const auto& word : words) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(word, ignored)) {
      found.push_back(word);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    for (const auto& entry : std::filesystem::directory_iterator(word)) {
      const std::string file = entry.path().string();
      for (const char* ending : {".mtx", ".mtx.gz", ".tar.gz", ".furrow"})
        if (io::has_ending(file, ending)) found.push_back(file);
    }
    std::sort(found.begin() + first, found.end());
    check(static_cast<std::ptrdiff_t>(found.size()) > first, fault::input, "{}: no matrix is in this folder", word);
  }
  return found;
}

int run(const options& o) {
  const auto wishes = wishes_of(o);
  const auto files = matrices_of(o.files);
  for (const auto& file : files) check_generator(file); // files that are missing do not keep the others waiting
  const device where = o.machine.apply();
  campaign c("spmv", o.campaign, o.machine.all_values(), where);
  for (const auto& file : files) c.measure(file, wishes);
  return c.finish();
}

std::function<int()> setup(CLI::App& app, context& shared) {
  auto o = std::make_shared<options>();
  auto* files = app.add_option("FILES", o->files, "matrices, folders of them, generators (poisson3d:100)")
                    ->required()
                    ->type_name("");
  shared.words[files] = generator_names();
  shared.words[files].emplace_back("<file>");
  shared.words[app.add_option("--format", o->formats,
                              "all, auto, or names with parameters, joined by commas (default all)")
                   ->type_name("LIST")] = format_names({"all", "auto"});
  shared.words[app.add_option("--kernel", o->kernel, "all, auto or a kernel (default all)")->type_name("NAME")] =
      kernel_names({"all", "auto"});
  app.add_flag("--tune", o->campaign.tune, "let --tune choose too, by measuring");
  app.add_option("--copies", o->campaign.copies, "measure N copies of each matrix on the diagonal of one")
      ->type_name("N")
      ->transform(whole(1, 1000000));
  o->campaign.add(app);
  o->machine.add(app, shared, true);
  app.footer(
      "'a' marks what auto chooses, 't' what --tune does, 'b' both. Set-up is in products: how many of them it takes "
      "to\n"
      "pay for it. A file that fails is said by name, the others go on, and the exit code is that of the failure.\n\n"
      "Examples:\n"
      "  furrow bench spmv poisson3d:100 random:1000000:16 --check\n"
      "  furrow bench spmv FOLDER --device gpu -o results\n"
      "  furrow bench spmv matrix.mtx --format csr,coo --precision f64 --cold");
  return [o] { return run(*o); };
}

} // namespace

extern const subcommand entry{"spmv", "Time y = A x of matrices in all formats and kernels, beside other libraries.",
                              setup};

} // namespace furrow::cli::spmv_bench
