// SPDX-License-Identifier: BSD-3-Clause
#include "series_file.hpp"
#include "command.hpp"
#include "options.hpp"

#include "core/check.hpp"
#include "io/atomic_file.hpp"
#include "io/commented_vector.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace furrow::cli::cheb_command {
namespace {

using chebyshev::interval;

constexpr std::string_view label = "interval";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// What follows "interval:", in whatever case and with blanks before the colon; none: the comment says something else.
std::optional<std::string> behind_label(std::string_view comment) {
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  if (!std::ranges::equal(comment.substr(0, label.size()), label, same)) return {};
  comment = without_blanks(comment.substr(label.size()));
  if (!comment.starts_with(':')) return {};
  return std::string(without_blanks(comment.substr(1)));
}

/// The interval that the comments of a file say.
std::optional<interval> interval_in(const std::vector<std::string>& comments, const std::string& file) {
  std::optional<interval> said;
  for (const std::string& comment : comments) {
    const auto ends = behind_label(comment);
    if (!ends) continue;
    interval now;
    try {
      now = parse_ends(*ends);
    } catch (const error&) {
      throw error(fault::input, fmt::format("{}: its interval cannot be understood: a comment such as '% {}: -1,1' is "
                                            "wanted",
                                            file, label));
    }
    try {
      chebyshev::check_interval(now);
    } catch (const error& e) {
      throw error(fault::input, fmt::format("{}: its interval {}", file, e.what()));
    }
    check(!said || *said == now, fault::input, "{}: says two intervals, [{}, {}] and [{}, {}]", file,
          said.value_or(now).low, said.value_or(now).high, now.low, now.high);
    said = now;
  }
  return said;
}

} // namespace

series_file read_series_file(const std::string& name, const std::string& on) {
  check_input(name, "a series");
  io::commented_vector read = io::read_commented_vector(name);
  series_file f{name, std::move(read.values), interval_in(read.comments, name)};
  check(!f.coefficients.empty(), fault::input, "{}: holds no coefficients: one a line is wanted", name);
  check(f.on || !read.more_comments, fault::input,
        "{}: its comments are so long that an interval among them may be overlooked: put '% {}: -1,1' first", name,
        label);
  if (on.empty()) return f;
  const interval wanted = parse_interval(on);
  check(!f.on || *f.on == wanted, fault::usage,
        "{} says that its series lives on [{}, {}], --on says [{}, {}]: leave --on away", name, f.interval().low,
        f.interval().high, wanted.low, wanted.high);
  f.on = wanted;
  return f;
}

chebyshev::series read_series(const std::string& name, const std::string& on) {
  series_file f = read_series_file(name, on);
  for (index_t k = 0; k < f.coefficients.size(); ++k)
    check(std::isfinite(f.coefficients[k]), fault::input, "{}: coefficient {} is {}: only finite ones make a series",
          name, k, f.coefficients[k]);
  return {std::move(f.coefficients), f.interval()};
}

template <class V> std::string series_text(cview<V> coefficients, const std::optional<interval>& on) {
  std::string text = on ? fmt::format("% {}: {},{}\n", label, on->low, on->high) : "";
  for (const V a : coefficients) text += fmt::format("{}\n", a);
  return text;
}
template std::string series_text(cview<double>, const std::optional<interval>&);
template std::string series_text(cview<float>, const std::optional<interval>&);

void write_text(const std::string& text, const std::string& file) {
  io::atomic_file out(file);
  out.write(text);
  out.commit();
}

void add_interval_of_file(CLI::App& app, std::string& on) {
  app.add_option("--on", on, "the interval, where the file does not say it (default -1,1)")->type_name("LO,HI");
}

} // namespace furrow::cli::cheb_command
