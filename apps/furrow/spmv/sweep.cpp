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
  check(q.machine.where != "play", fault::usage,
        "--sweep measures, and a kernel that is played has no speed: play one choice, as {}",
        "--kernel vector:lanes=8,block=128");
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

std::vector<choice> sweep_of(const choice& c) {
  const kernel_freedom free = find_kernel(*c.format, c.kernel)->free;
  std::vector<choice> all;
  for (int block = least_block; block <= most_block; block *= 2)
    for (int lanes = 2; lanes <= lanes_of_a_warp; lanes *= 2) {
      choice one = c;
      one.kernel += free.lanes ? fmt::format(":lanes={},block={}", lanes, block) : fmt::format(":block={}", block);
      all.push_back(std::move(one));
      if (!free.lanes) break;
    }
  return all;
}

std::string sweep_table(const spmv_outcome& o) {
  if (o.results.empty()) return {};
  const auto best = std::ranges::min_element(o.results, {}, [](const spmv_result& r) { return r.time.median; });
  const std::string name(kernel_name(best->kernel));
  std::string text = dim(fmt::format("  {} {} in GB/s", best->format, name)) + "\n", head = "     block", rows;
  const int first = read_kernel_numbers(o.results.front().kernel).block;
  int block = 0; // of the line
  double largest_error = 0;
  for (auto r = o.results.begin(); r != o.results.end(); ++r) {
    const kernel_numbers n = read_kernel_numbers(r->kernel);
    if (n.block == first) head += fmt::format(" {:>9}", n.lanes ? fmt::format("{} lanes", n.lanes) : "GB/s");
    if (n.block != block) rows += fmt::format("{}{:>10}", rows.empty() ? "" : "\n", n.block);
    block = n.block;
    const std::string speed = fmt::format(" {:>9}", fmt::format("{}{:.1f}", r == best ? "*" : "", r->gbps));
    rows += r == best ? bold(speed) : speed;
    largest_error = std::max(largest_error, r->row_error.value_or(0));
  }
  text += dim(head) + "\n" + rows + "\n";
  text += fmt::format("\n* --kernel {}: {}, {} of ceiling\n", best->kernel, seconds_text(best->time.median),
                      share_text(best->fraction()));
  if (best->row_error) text += fmt::format("  largest row error {:.3f}\n", largest_error);
  return text;
}

} // namespace furrow::cli
