// SPDX-License-Identifier: BSD-3-Clause
#include "html.hpp"

#include "picture/svg.hpp"

#include <fmt/format.h>

namespace furrow::report {

html& html::open(std::string_view name, std::string_view attributes) {
  out_ += fmt::format("<{}{}{}>", name, attributes.empty() ? "" : " ", attributes);
  open_.emplace_back(name);
  return *this;
}

html& html::close() {
  const std::string& name = open_.back();
  const bool inside_a_line = name == "strong" || name == "span" || name == "code";
  out_ += fmt::format("</{}>{}", name, inside_a_line ? "" : "\n");
  open_.pop_back();
  return *this;
}

html& html::text(std::string_view words) {
  out_ += picture::escaped(words);
  return *this;
}

html& html::raw(std::string_view markup) {
  out_ += markup;
  return *this;
}

html& html::element(std::string_view name, std::string_view words, std::string_view attributes) {
  return open(name, attributes).text(words).close();
}

html& html::terms(const std::vector<std::pair<std::string, std::string>>& pairs) {
  if (pairs.empty()) return *this;
  open("dl");
  for (const auto& [term, what] : pairs) element("dt", term).element("dd", what);
  return close();
}

std::string html::finish() {
  while (!open_.empty()) close();
  return std::move(out_);
}

} // namespace furrow::report
