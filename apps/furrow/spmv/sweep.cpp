// SPDX-License-Identifier: BSD-3-Clause
#include "sweep.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow::cli {
namespace {

/// Null: the format has no such kernel on a GPU.
const kernel_entry* find_kernel(const format_entry& f, std::string_view name) {
  const auto at = std::ranges::find(f.gpu.kernels, name, &kernel_entry::name);
  return at == f.gpu.kernels.end() ? nullptr : &*at;
}

/// The kernels of a format that have numbers to try.
std::vector<std::string_view> free_kernels(const format_entry& f) {
  std::vector<std::string_view> names;
  for (const auto& k : f.gpu.kernels)
    if (k.free.lanes || k.free.block) names.push_back(k.name);
  return names;
}

} // namespace

void check_sweep(spmv_request& q) {
  check(q.format != "all", fault::usage, "--sweep: tries the numbers of one format's kernel: name it, or leave {} out",
        "--format");
  if (q.format == "auto") q.format = "csr";
  const format_entry& f = find_format(q.format.substr(0, q.format.find(':')));
  const auto names = free_kernels(f);
  check(!names.empty(), fault::usage, "--sweep: format {} has no kernel whose lanes and blocks are free: take csr",
        f.name);
  if (q.kernel == "auto") q.kernel = names.front();
  check(std::ranges::find(names, q.kernel) != names.end(), fault::usage,
        "--sweep: tries all numbers of one kernel of {}, and '{}' is none: choose one of {}", f.name, q.kernel,
        fmt::join(names, ", "));
}

std::vector<std::string> kernels_of_sweep(std::string_view format, std::string_view kernel, int wave) {
  const kernel_freedom free = find_kernel(find_format(format), kernel)->free;
  std::vector<std::string> all;
  for (int block = std::max(least_block, wave); block <= most_block; block *= 2)
    if (!free.lanes) all.push_back(fmt::format("{}:block={}", kernel, block));
    else
      for (int lanes = 2; lanes <= wave; lanes *= 2)
        all.push_back(fmt::format("{}:lanes={},block={}", kernel, lanes, block));
  return all;
}

std::vector<choice> sweep_of(const choice& c) {
  std::vector<choice> all;
  for (auto& kernel : kernels_of_sweep(c.format->name, c.kernel, lanes_of_a_warp)) {
    all.push_back(c);
    all.back().kernel = std::move(kernel);
  }
  return all;
}

namespace {

/// A line a block, a column a number of lanes; `best` has a star.
std::string grid_of(const std::vector<std::pair<std::string, double>>& all, std::size_t best, const char* unit) {
  std::string head = "     block", rows;
  const int first = read_kernel_numbers(all.front().first).block;
  int block = 0; // of the line
  for (std::size_t k = 0; k < all.size(); ++k) {
    const kernel_numbers n = read_kernel_numbers(all[k].first);
    if (n.block == first) head += fmt::format(" {:>9}", n.lanes ? fmt::format("{} lanes", n.lanes) : unit);
    if (n.block != block) rows += fmt::format("{}{:>10}", rows.empty() ? "" : "\n", n.block);
    block = n.block;
    const std::string number = fmt::format(" {:>9}", fmt::format("{}{:.1f}", k == best ? "*" : "", all[k].second));
    rows += k == best ? bold(number) : number;
  }
  return dim(head) + "\n" + rows + "\n";
}

/// What all loads and stores of a product did in memory, its kernels together.
struct in_memory {
  double lines = 0, used = 0, lanes = 0, all_lanes = 0; ///< bytes of lines, bytes asked for; lanes that took part
  explicit in_memory(const played_result& r) {
    for (const auto& k : r.kernels)
      for (const auto& t : k.arrays) {
        if (t.shared) continue;
        lines += 128.0 * double(t.lines);
        used += double(t.bytes);
        lanes += double(t.lanes);
        all_lanes += double(t.instructions) * k.wave;
      }
  }
};

} // namespace

std::string sweep_table(const spmv_outcome& o) {
  if (o.results.empty()) return {};
  const auto best = std::ranges::min_element(o.results, {}, [](const spmv_result& r) { return r.time.median; });
  std::vector<std::pair<std::string, double>> speeds;
  double largest_error = 0;
  for (const auto& r : o.results) {
    speeds.emplace_back(r.kernel, r.gbps);
    largest_error = std::max(largest_error, r.row_error.value_or(0));
  }
  std::string text = dim(fmt::format("  {} {} in GB/s", best->format, kernel_name(best->kernel))) + "\n";
  text += grid_of(speeds, static_cast<std::size_t>(best - o.results.begin()), "GB/s");
  text += fmt::format("\n* --kernel {}: {}, {} of ceiling\n", best->kernel, seconds_text(best->time.median),
                      share_text(best->fraction()));
  if (best->row_error && !o.none_checked()) text += fmt::format("  largest row error {:.3f}\n", largest_error);
  return text;
}

std::string sweep_table(const played_outcome& o) {
  const auto best = std::ranges::min_element(o.results, {}, [](const played_result& r) { return in_memory(r).lines; });
  std::vector<std::pair<std::string, double>> lines;
  double largest_error = 0;
  for (const auto& r : o.results) {
    lines.emplace_back(r.kernel, 1e-3 * in_memory(r).lines);
    largest_error = std::max(largest_error, r.row_error);
  }
  const in_memory least(*best);
  std::string text =
      dim(fmt::format("  {} {} in kB of lines that a product touches", best->format, kernel_name(best->kernel))) + "\n";
  text += grid_of(lines, static_cast<std::size_t>(best - o.results.begin()), "kB");
  return text + fmt::format("\n* --kernel {}: {} of lines, {} of them used, {} of the lanes idle\n"
                            "  largest row error {:.3f}\n",
                            best->kernel, bytes_text(least.lines), share_text(least.used / least.lines),
                            share_text(1 - least.lanes / least.all_lanes), largest_error);
}

} // namespace furrow::cli
