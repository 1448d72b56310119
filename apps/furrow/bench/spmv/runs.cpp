// SPDX-License-Identifier: BSD-3-Clause
#include "runs.hpp"
#include "nearest.hpp"
#include "options.hpp"
#include "text.hpp"

#include "core/kernel_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace furrow::cli::spmv_bench {
namespace {

/// Why a format in these parameters cannot be made here; empty where it can.
std::string obstacle(const format_entry& f, const std::string& parameters, const plan& p, const stats& s, precision v) {
  const layout l = f.lay_out(s, v, parameters);
  if (!l.refusal.empty()) return l.refusal;
  const auto memory = double(p.where.is_gpu() ? available_gpu_memory(p.where.ordinal) : available_host_memory());
  if (l.bytes > 0.8 * memory)
    return fmt::format("would take {}, and {} are available", bytes_text(l.bytes), bytes_text(memory));
  return {};
}

} // namespace

std::vector<run> runs_of(const plan& p, const stats& s, precision values, const std::function<void(left_out)>& skip) {
  std::vector<run> runs;
  const auto add = [&](const format_entry& f, const std::string& parameters, const std::string& kernel, bool named) {
    const choice c{&f, parameters, kernel, {}};
    const auto refuse = [&](std::string why) { skip({"furrow", name_of(c), kernel, values, std::move(why)}); };
    const auto& backend = f.backend(p.where);
    const char* const where = p.where.is_gpu() ? "GPU" : "CPU";
    if (values == precision::f64 ? !backend.f64 : !backend.f32)
      return refuse(fmt::format("has no code for the {}", where));
    const bool known = kernel == "auto" || std::ranges::any_of(backend.kernels, [&](const auto& k) {
                         return k.name == kernel_name(kernel);
                       });
    if (!known && !named) return; // a kernel that only other formats have
    if (!known) return refuse(fmt::format("has no kernel '{}' on the {}", kernel, where));
    if (const std::string why = obstacle(f, parameters, p, s, values); !why.empty()) return refuse(why);
    runs.push_back({c});
  };
  const auto add_kernels = [&](const format_entry& f, const std::string& parameters, const std::string& kernel,
                               bool named) {
    const auto kernels = f.backend(p.where).kernels;
    if (kernel != "all" || kernels.empty()) return add(f, parameters, kernel == "all" ? "auto" : kernel, named);
    // One refusal speaks for all kernels.
    if (!obstacle(f, parameters, p, s, values).empty()) return add(f, parameters, "auto", named);
    for (const auto& k : kernels) add(f, parameters, std::string(k.name), named);
  };
  for (const auto& w : p.wishes) {
    if (w.format == "auto" || w.format == "all") runs.insert(runs.begin(), {choose(s, values, p.where), true});
    if (w.format == "auto") continue;
    if (w.format == "all") {
      for (const auto* f : formats()) add_kernels(*f, {}, w.kernel, false);
      continue;
    }
    const auto colon = std::min(w.format.find(':'), w.format.size());
    add_kernels(find_format(w.format.substr(0, colon)), w.format.substr(std::min(colon + 1, w.format.size())), w.kernel,
                true);
  }
  return runs;
}

void check_wishes(const std::vector<wish>& wishes) {
  for (const auto& w : wishes) {
    const auto colon = std::min(w.format.find(':'), w.format.size());
    check_name("format", w.format.substr(0, colon), format_names({"auto", "all"}));
    check_name("kernel", name_before_colon(w.kernel), kernel_names({"auto", "all"}));
    if (colon < w.format.size())
      find_format(w.format.substr(0, colon)).lay_out({}, precision::f64, w.format.substr(colon + 1));
  }
}

} // namespace furrow::cli::spmv_bench
