// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace furrow::picture {

/// One attribute; numbers are written with two decimals at most.
struct attribute {
  std::string_view name;
  std::variant<double, std::string> value;
};

/// An SVG file as text, element after element, one a line. Everything that comes from outside is escaped.
class svg {
public:
  svg(double width, double height, std::string_view title);

  void element(std::string_view name, std::initializer_list<attribute> attributes, std::string_view hint = {});
  void text(double x, double y, std::string_view words, std::initializer_list<attribute> attributes = {});
  void open(std::string_view name, std::initializer_list<attribute> attributes);
  void close(std::string_view name);
  /// The complete file. Call it once, at the end.
  std::string finish();

private:
  std::string begin(std::string_view name, std::initializer_list<attribute> attributes) const;

  std::string out_;
  int depth_ = 1;
};

/// A number with two decimals at most, for coordinates.
std::string coordinate(double value);
/// `text` with the letters that XML keeps for itself written otherwise; what is not printable becomes spaces.
std::string escaped(std::string_view text);

} // namespace furrow::picture
