// SPDX-License-Identifier: BSD-3-Clause
#include "command.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>
#include <muParser.h>

#include <cmath>
#include <memory>
#include <numbers>

namespace furrow::cli::cheb_command {
namespace {

/// The parser keeps a pointer to x, so both stay where they are.
struct expression {
  double x = 0;
  mu::Parser parser;

  explicit expression(const std::string& text) {
    parser.DefineVar("x", &x);
    parser.DefineConst("pi", std::numbers::pi);
    parser.DefineConst("e", std::numbers::e);
    parser.DefineFun("log", static_cast<double (*)(double)>(std::log)); // natural, as in every programming language
    parser.DefineFun("erf", static_cast<double (*)(double)>(std::erf));
    parser.DefineFun("gamma", static_cast<double (*)(double)>(std::tgamma));
    parser.SetExpr(text);
    parser.Eval();
  }
};

} // namespace

std::function<double(double)> parse_expression(const std::string& text) {
  try {
    auto f = std::make_shared<expression>(text);
    return [f](double x) {
      f->x = x;
      return f->parser.Eval();
    };
  } catch (const mu::Parser::exception_type& e) {
    std::string why = e.GetMsg();
    while (!why.empty() && (why.back() == '.' || why.back() == '\n' || why.back() == ' ')) why.pop_back();
    throw error(fault::usage, fmt::format("'{}' cannot be understood as a function of x: {}", text, why));
  }
}

} // namespace furrow::cli::cheb_command
