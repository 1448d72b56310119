// SPDX-License-Identifier: BSD-3-Clause
#include "tables.hpp"

#include <furrow/formats.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow {

#define FURROW_ENTRY(name)                                                                                             \
  namespace name##_format {                                                                                            \
    extern const format_entry entry;                                                                                   \
  }
#include "formats.inc"
#undef FURROW_ENTRY

namespace {

constexpr const format_entry* table[] = {
#define FURROW_ENTRY(name) &name##_format::entry,
#include "formats.inc"
#undef FURROW_ENTRY
};

std::string names_of(std::span<const kernel_entry> kernels) {
  std::vector<std::string_view> names;
  for (const auto& k : kernels) names.push_back(k.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void check_kernel(const format_entry& f, device where, std::string_view kernel) {
  if (kernel == "auto") return;
  const auto kernels = f.backend(where).kernels;
  const bool known = std::ranges::any_of(kernels, [&](const auto& k) { return k.name == kernel; });
  check(known, fault::usage,
        fmt::format("format {} has no kernel '{}' on the {}: choose auto or one of {}", f.name, kernel,
                    where.is_gpu() ? "GPU" : "CPU", names_of(kernels)));
}

std::string readable(double bytes) {
  const char* unit = "bytes";
  for (const char* larger : {"kB", "MB", "GB"})
    if (bytes >= 1000) {
      bytes /= 1000;
      unit = larger;
    }
  return fmt::format("{:.4g} {}", bytes, unit);
}

} // namespace

std::span<const format_entry* const> formats() { return table; }

const format_entry& find_format(std::string_view name) { return find_entry(formats(), "format", name); }

std::string name_of(const choice& c) {
  return std::string(c.format->name) + (c.parameters.empty() ? "" : ":" + c.parameters);
}

choice choose(const stats& s, precision p, device where, std::string_view format, std::string_view kernel) {
  choice c{nullptr, {}, std::string(kernel), {}};
  if (format != "auto") {
    const auto colon = std::min(format.find(':'), format.size());
    c.format = &find_format(format.substr(0, colon));
    c.parameters = format.substr(std::min(colon + 1, format.size()));
    c.reason = "asked for";
    check(c.format->backend(where).f64 != nullptr, fault::device,
          fmt::format("format {} does not run on the {}: choose auto", format, where.is_gpu() ? "GPU" : "CPU"));
    const layout l = c.format->lay_out(s, p, c.parameters);
    check(l.refusal.empty(), fault::input, l.refusal);
  } else {
    double fewest = std::numeric_limits<double>::infinity();
    for (const auto* f : formats()) {
      if (!f->backend(where).f64) continue;
      const layout l = f->lay_out(s, p, {});
      if (!l.refusal.empty() || l.bytes >= fewest) continue;
      c.format = f;
      fewest = l.bytes;
      c.reason = fmt::format("fewest bytes a product: {}", readable(bytes_per_apply(l, s, p)));
    }
    check(c.format != nullptr, fault::device,
          fmt::format("no format runs on the {} in this build", where.is_gpu() ? "GPU" : "CPU"));
  }
  check_kernel(*c.format, where, kernel);
  return c;
}

} // namespace furrow
