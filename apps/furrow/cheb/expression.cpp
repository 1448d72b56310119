// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numbers>
#include <numeric>

namespace furrow::cli::cheb_command {
namespace {

using one = double (*)(double);
using two = double (*)(double, double);
using many = double (*)(const double*, int);

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double sum(const double* x, int n) { return std::accumulate(x, x + n, 0.0); }
double mean(const double* x, int n) { return sum(x, n) / n; }
/// The one that comes before all others; a NaN wins, so that it is seen.
template <class Before> double first_of(const double* x, int n, Before before) {
  return std::accumulate(x + 1, x + n, x[0], [&](double a, double b) { return before(b, a) || std::isnan(b) ? b : a; });
}
double least(const double* x, int n) { return first_of(x, n, std::less<>()); }
double largest(const double* x, int n) { return first_of(x, n, std::greater<>()); }

/// Those of the C library: the parser's own asinh, acosh and atanh lose all digits near 0, its log2 and rint some.
struct function_of_one {
  const char* name;
  one f;
};
constexpr function_of_one of_one[] = {
    {"sin", std::sin},      {"cos", std::cos},     {"tan", std::tan},   {"asin", std::asin}, {"acos", std::acos},
    {"atan", std::atan},    {"sinh", std::sinh},   {"cosh", std::cosh}, {"tanh", std::tanh}, {"asinh", std::asinh},
    {"acosh", std::acosh},  {"atanh", std::atanh}, {"exp", std::exp},   {"log", std::log},   {"ln", std::log},
    {"log2", std::log2},    {"log10", std::log10}, {"sqrt", std::sqrt}, {"abs", std::fabs},  {"erf", std::erf},
    {"gamma", std::tgamma}, {"rint", std::rint},   {"sign", sign},
};
struct function_of_many {
  const char* name;
  many f;
};
constexpr function_of_many of_many[] = {{"sum", sum}, {"avg", mean}, {"min", least}, {"max", largest}};

/// The parser keeps a pointer to x, so both stay where they are.
struct expression {
  double x = 0;
  mu::Parser parser;

  explicit expression(const std::string& text) {
    parser.ClearConst(); // its pi has 12 digits
    parser.ClearFun();
    parser.EnableOptimizer(false); // operations as they are written
    parser.DefineVar("x", &x);
    parser.DefineConst("pi", std::numbers::pi);
    parser.DefineConst("e", std::numbers::e);
    for (const auto& [name, f] : of_one) parser.DefineFun(name, f);
    for (const auto& [name, f] : of_many) parser.DefineFun(name, f);
    parser.DefineFun("atan2", static_cast<two>(std::atan2));
    parser.SetExpr(text);
    parser.Eval();
  }
};

/// What a person may have meant by a character that no expression has.
const char* meant_by(char c) {
  switch (c) {
  case '=':
    return "an equation has no '=' here: write the roots of a = b as those of a - (b)";
  case ';':
    return "one formula is wanted: write 1.5 with a point";
  case '!':
    return "the factorial of n is gamma(n+1)";
  case '<':
  case '>':
  case '&':
  case '|':
  case '?':
  case ':':
    return "comparisons and conditions make jumps, which no series follows; the size of x is abs(x)";
  default:
    return "a formula has numbers, x, pi, e, + - * / ^, brackets and functions such as sin(x)";
  }
}

/// A text in a message: all of it, or what stands around the place.
std::string around(const std::string& text, std::size_t at) {
  constexpr std::size_t most = 80;
  if (text.size() <= most) return text;
  const std::size_t first = std::min(at - std::min(at, most / 2), text.size() - most);
  return fmt::format("{}{}{}", first > 0 ? "..." : "", text.substr(first, most),
                     first + most < text.size() ? "..." : "");
}

[[noreturn]] void refuse(const std::string& text, std::size_t at, std::string_view why) {
  throw error(fault::usage, fmt::format("'{}' cannot be understood as a function of x at character {}: {}",
                                        around(text, at), at + 1, why));
}

/// Whether the bracket at `at` is that of a call: a name stands before it.
bool is_call(std::string_view text, std::size_t at) {
  text = text.substr(0, at);
  text = text.substr(0, text.find_last_not_of(" \t\n") + 1);
  const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0; };
  std::size_t name = text.size();
  while (name > 0 && in_name(static_cast<unsigned char>(text[name - 1]))) --name;
  return name < text.size() && std::isalpha(static_cast<unsigned char>(text[name])) != 0;
}

/// The parser takes more than a formula: assignments, comparisons, and commas that throw away what is before them.
void check_characters(const std::string& text) {
  std::vector<bool> calls; // of the brackets that are open
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '(') {
      calls.push_back(is_call(text, k));
    } else if (c == ')') {
      if (!calls.empty()) calls.pop_back();
    } else if (c == ',') {
      if (calls.empty() || !calls.back())
        refuse(text, k, "a comma outside of a call such as max(x,1): write 1.5, not 1,5");
    } else if (c == '*' && k > 0 && text[k - 1] == '*') {
      refuse(text, k, "powers are written x^2");
    } else if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::strchr("+-*/^. \t\n", c) == nullptr) {
      refuse(text, k, meant_by(c));
    }
  }
}

} // namespace

std::function<double(double)> parse_expression(const std::string& text) {
  check_characters(text);
  try {
    auto f = std::make_shared<expression>(text);
    return [f](double x) {
      f->x = x;
      return f->parser.Eval();
    };
  } catch (const mu::Parser::exception_type& e) {
    std::string why = e.GetCode() == mu::ecINTERNAL_ERROR ? "it is no complete formula" : e.GetMsg(); // as of x++
    const std::size_t at = std::min(static_cast<std::size_t>(std::max(e.GetPos(), 0)), text.size());  // behind the end
    const std::string& token = e.GetToken();
    if (!token.empty() && std::isdigit(static_cast<unsigned char>(token[0])) != 0 &&
        std::isinf(std::strtod(token.c_str(), nullptr)))
      refuse(text, at, fmt::format("{} is larger than any number of f64", around(token, 0)));
    const auto replace = [&](const std::string& word, const std::string& by) {
      if (const auto k = why.find(word); !word.empty() && k != why.npos) why.replace(k, word.size(), by);
    };
    for (const char* place : {"expression position", "position"}) // the parser counts from 0
      replace(fmt::format("{} {}", place, e.GetPos()), fmt::format("character {}", at + 1));
    replace(token, around(token, 0));
    while (!why.empty() && (why.back() == '.' || why.back() == '\n' || why.back() == ' ')) why.pop_back();
    throw error(fault::usage, fmt::format("'{}' cannot be understood as a function of x: {}; products and calls are "
                                          "written in full, as in 2*sin(x)",
                                          around(text, at), why));
  }
}

} // namespace furrow::cli::cheb_command
