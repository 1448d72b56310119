// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace furrow::report {

/// A page of HTML as text. What is opened is closed, and text is escaped; only `raw` takes markup.
class html {
public:
  /// `attributes` as they stand: not for text from outside.
  html& open(std::string_view name, std::string_view attributes = {});
  html& close();
  html& text(std::string_view words);
  html& raw(std::string_view markup);
  /// <name attributes>words</name>
  html& element(std::string_view name, std::string_view words, std::string_view attributes = {});
  /// A list of terms and what they are; without pairs nothing.
  html& terms(const std::vector<std::pair<std::string, std::string>>& pairs);
  /// The page; what is still open is closed.
  std::string finish();

private:
  std::string out_;
  std::vector<std::string> open_;
};

} // namespace furrow::report
