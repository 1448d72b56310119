// SPDX-License-Identifier: BSD-3-Clause
#include "bench/conditions.hpp"
#include "comparison.hpp"

#include "picture/chart.hpp"

#include <fmt/format.h>

#include <limits>

namespace furrow::cli::paper_bench {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

/// The bars of one method over the matrices of a suite, divided by a bandwidth each.
void add_method(picture::chart& c, const std::vector<const compared*>& subjects, std::size_t method_of_suite,
                precision p, double then_per, double now_per) {
  std::vector<double> then, now;
  then.reserve(subjects.size());
  now.reserve(subjects.size());
  for (const compared* s : subjects) {
    const comparison* found = nullptr;
    for (const auto& row : s->rows)
      if (row.values == p && row.what == &s->of->methods[method_of_suite]) found = &row;
    then.push_back(found ? found->then / then_per : nothing);
    now.push_back(found && found->now > 0 ? found->now / now_per : nothing);
  }
  const std::string_view name = subjects.front()->of->methods[method_of_suite].name;
  c.bars(fmt::format("{}, {}", name, device_of_the_paper), then);
  c.bars(fmt::format("{}, here", name), now);
}

std::string picture_of(const std::string& machine, const std::vector<const compared*>& subjects, precision p,
                       double then_per, double now_per, const char* unit) {
  std::vector<std::string> names;
  names.reserve(subjects.size());
  for (const compared* s : subjects) names.push_back(s->label());
  const suite& of = *subjects.front()->of;
  picture::chart c(fmt::format("{}, {}: Bell and Garland (2008) and here", of.name, spmv_bench::name_of(p)), names,
                   {unit});
  c.remark(machine);
  for (std::size_t k = 0; k < of.methods.size(); ++k) add_method(c, subjects, k, p, then_per, now_per);
  std::vector<double> chosen;
  chosen.reserve(subjects.size());
  for (const compared* s : subjects) {
    double now = nothing;
    for (const auto& one : s->chosen)
      if (one.values == p) now = one.now / now_per;
    chosen.push_back(now);
  }
  c.bars("Furrow's choice, here", chosen);
  return c.svg();
}

} // namespace

void draw(const std::string& folder, const std::string& machine, const std::vector<compared>& all,
          const std::vector<precision>& values, double ceiling_gbps) {
  for (const suite& s : suites()) {
    std::vector<const compared*> subjects;
    for (const compared& c : all)
      if (c.of == &s) subjects.push_back(&c);
    if (subjects.empty()) continue;
    for (const precision p : values) {
      const auto write = [&](const char* what, double then_per, double now_per, const char* unit) {
        write_into(folder, fmt::format("paper_{}_{}{}.svg", s.short_name, spmv_bench::name_of(p), what),
                   picture_of(machine, subjects, p, then_per, now_per, unit));
      };
      write("", 1, 1, "GFLOP/s");
      if (ceiling_gbps > 0)
        write("_per_bandwidth", bandwidth_of_the_paper, ceiling_gbps, "GFLOP/s for each GB/s of the memory");
    }
  }
}

} // namespace furrow::cli::paper_bench
