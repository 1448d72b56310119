// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/report.hpp>

#include "data.hpp"
#include "script.hpp"
#include "sections.hpp"
#include "style.hpp"
#include "words.hpp"

#include "io/atomic_file.hpp"

#include <fmt/format.h>

namespace furrow {

std::string report_html(const solve_report& r, const solve_options& options, const report_context& context) {
  using namespace report;
  const subject s{r, options, context};
  const std::string of = context.name.empty() ? "" : fmt::format(": {}", context.name);
  html page;
  page.raw("<!DOCTYPE html>\n").open("html", "lang=\"en\"").open("head").raw("<meta charset=\"utf-8\">\n");
  page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
  page.raw(fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", policy));
  page.element("title", fmt::format("{}{}", verdict(r.why), of)).open("style").raw(style).close().close();
  page.open("body").open("main");
  add_verdict(page, s);
  add_convergence(page, s);
  add_matrix(page, s);
  add_choice(page, s);
  add_speed(page, s);
  add_environment(page, s);
  page.close();
  page.element("footer", "All numbers of this page are in it once more, as JSON in the element with the id “data”.");
  const auto with_numbers = [&](std::size_t stretches) {
    html whole = page;
    whole.open("script", "type=\"application/json\" id=\"data\"").raw(data(r, options, context, stretches)).close();
    return whole.open("script").raw(script).close().finish();
  };
  constexpr std::size_t most_bytes = 100'000;
  std::string whole;
  for (const std::size_t stretches : {1000, 500, 250}) // of a history, as many as there is room for
    if (whole = with_numbers(stretches); whole.size() < most_bytes) break;
  return whole;
}

void write_report(const std::filesystem::path& file, const solve_report& r, const solve_options& options,
                  const report_context& context) {
  io::atomic_file out(file);
  out.write(report_html(r, options, context));
  out.commit();
}

} // namespace furrow
