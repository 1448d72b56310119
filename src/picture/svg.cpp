// SPDX-License-Identifier: BSD-3-Clause
#include "svg.hpp"

#include "core/printable.hpp"

#include <fmt/format.h>

namespace furrow::picture {

std::string coordinate(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text, ' ')) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

svg::svg(double width, double height, std::string_view title) {
  out_ = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
                     "font-family=\"system-ui, sans-serif\" font-size=\"12\">\n  <title>{2}</title>\n",
                     coordinate(width), coordinate(height), escaped(title));
}

std::string svg::begin(std::string_view name, std::initializer_list<attribute> attributes) const {
  std::string tag = fmt::format("{:{}}<{}", "", 2 * depth_, name);
  for (const auto& a : attributes) {
    const auto* number = std::get_if<double>(&a.value);
    tag += fmt::format(" {}=\"{}\"", a.name, number ? coordinate(*number) : escaped(std::get<std::string>(a.value)));
  }
  return tag;
}

void svg::element(std::string_view name, std::initializer_list<attribute> attributes, std::string_view hint) {
  out_ += begin(name, attributes);
  out_ += hint.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escaped(hint), name);
}

void svg::text(double x, double y, std::string_view words, std::initializer_list<attribute> attributes) {
  std::string tag = begin("text", attributes);
  out_ += fmt::format("{} x=\"{}\" y=\"{}\">{}</text>\n", tag, coordinate(x), coordinate(y), escaped(words));
}

void svg::open(std::string_view name, std::initializer_list<attribute> attributes) {
  out_ += begin(name, attributes) + ">\n";
  ++depth_;
}

void svg::close(std::string_view name) {
  --depth_;
  out_ += fmt::format("{:{}}</{}>\n", "", 2 * depth_, name);
}

std::string svg::finish() { return std::move(out_) + "</svg>\n"; }

} // namespace furrow::picture
