// SPDX-License-Identifier: BSD-3-Clause
#include "data.hpp"
#include "words.hpp"

#include "core/printable.hpp"
#include "picture/thinned.hpp"

#include <furrow/device.hpp>
#include <furrow/version.hpp>

#include <fmt/format.h>

#include <cmath>

namespace furrow::report {
namespace {

std::string text_of(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (c == '<' || c == '>' || c == '&') out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else out += c;
  }
  return out + '"';
}

std::string number(double v) { return std::isfinite(v) ? fmt::format("{}", v) : "null"; }
std::string rounded(double v) { return std::isfinite(v) ? fmt::format("{:.5g}", v) : "null"; }
std::string known(double v) { return v > 0 ? number(v) : "null"; }

/// Members of an object or elements of an array, between their brackets.
class list {
public:
  explicit list(char open, char close) : text_(1, open), close_(close) {}
  list& add(const std::string& value) {
    if (text_.size() > 1) text_ += ',';
    text_ += value;
    return *this;
  }
  list& add(std::string_view key, const std::string& value) { return add(fmt::format("\"{}\":{}", key, value)); }
  std::string end() const { return text_ + close_; }

private:
  std::string text_;
  char close_;
};

list object() { return list('{', '}'); }
list array() { return list('[', ']'); }

std::string seconds(double setup, double solve) {
  return object().add("setup", number(setup)).add("solve", number(solve)).end();
}

std::string rungs(const solve_report& r) {
  list all = array();
  for (const solve_rung& one : r.rungs)
    all.add(object()
                .add("solver", text_of(one.solver))
                .add("precond", text_of(one.precond))
                .add("device", text_of(describe(one.where)))
                .add("reason", text_of(one.reason))
                .add("status", text_of(name(one.why)))
                .add("outcome", text_of(one.outcome))
                .add("iterations", fmt::format("{}", one.iterations))
                .add("relative_residual", number(one.relative_residual))
                .add("seconds", seconds(one.setup_seconds, one.solve_seconds))
                .end());
  return all.end();
}

std::string parts(const solve_report& r) {
  list all = object();
  for (const setup_part& p : r.setup_parts) all.add(text_of(p.what) + ":" + number(p.seconds));
  return all.end();
}

std::string expected(const matrix_sketch& m) {
  list all = array();
  for (const expected_product& p : m.expected)
    all.add(object()
                .add("format", text_of(p.format))
                .add("kernel", text_of(p.kernel))
                .add("seconds", number(p.seconds))
                .end());
  return all.end();
}

void add_history(list& j, const solve_report& r, std::size_t stretches) {
  list iterations = array(), residuals = array(), times = array();
  for (const std::size_t k : picture::thinned(r.history, stretches)) {
    iterations.add(fmt::format("{}", k));
    residuals.add(rounded(r.history[k]));
    if (k < r.history_seconds.size()) times.add(rounded(r.history_seconds[k]));
  }
  j.add("history_iterations", iterations.end());
  j.add("history", residuals.end());
  j.add("history_seconds", times.end());
}

} // namespace

std::string data(const solve_report& r, const solve_options& options, const report_context& c, std::size_t stretches) {
  list untried = array();
  for (const auto& one : r.untried) untried.add(text_of(one));
  list j = object();
  j.add("furrow", text_of(version));
  j.add("status", text_of(name(r.why)));
  j.add("message", text_of(r.message));
  j.add("iterations", fmt::format("{}", r.iterations));
  j.add("restarts", fmt::format("{}", r.restarts));
  j.add("inner_iterations", fmt::format("{}", r.inner_iterations));
  j.add("relative_residual", has_residual(r) ? number(r.relative_residual) : "null");
  j.add("relative_error", c.error && has_residual(r) ? number(*c.error) : "null");
  j.add("normal_residual", number(r.normal_residual));
  j.add("condition_estimate", known(r.condition_estimate));
  j.add("error_estimate", known(r.error_estimate));
  j.add("ritz", r.largest_ritz > 0 ? array().add(number(r.smallest_ritz)).add(number(r.largest_ritz)).end() : "null");
  j.add("estimated_by", text_of(estimated_by(r, c.matrix.shape)));
  j.add("warning", text_of(r.warning));
  j.add("matrix", text_of(c.name));
  j.add("rows", fmt::format("{}", c.matrix.shape.rows));
  j.add("cols", fmt::format("{}", c.matrix.shape.cols));
  j.add("nnz", fmt::format("{}", c.matrix.nnz));
  j.add("matrix_is", text_of(r.matrix_about));
  j.add("rhs", text_of(c.rhs));
  j.add("solver", text_of(r.solver));
  j.add("precond", text_of(r.precond));
  j.add("precond_says", text_of(r.precond_about));
  j.add("scale", text_of(r.scale));
  j.add("reorder", text_of(r.reorder));
  j.add("arranged", text_of(r.arranged_about));
  j.add("factor_entries_expected", known(r.factor_entries_expected));
  j.add("factor_bytes_expected", known(r.factor_bytes_expected));
  j.add("factors_at_most", r.factors_at_most ? "true" : "false");
  j.add("factor_entries", known(r.factor_entries));
  j.add("factor_bytes", known(r.factor_bytes));
  j.add("rungs", rungs(r));
  j.add("untried", untried.end());
  j.add("format", text_of(r.format));
  j.add("kernel", text_of(r.kernel));
  j.add("reason", text_of(r.reason));
  j.add("expected_products", expected(c.matrix));
  j.add("precision", text_of(options.values == precision::f32 ? "f32" : "f64"));
  j.add("device", text_of(describe(options.where)));
  j.add("threads", fmt::format("{}", threads()));
  j.add("rtol", number(options.rtol));
  j.add("atol", number(options.atol));
  j.add("goal", known(c.goal));
  j.add("seconds", object()
                       .add("read", number(c.read_seconds))
                       .add("setup", number(r.setup_seconds))
                       .add("solve", number(r.solve_seconds))
                       .add("parts", parts(r))
                       .end());
  j.add("bytes_per_iteration", number(r.bytes_per_iteration));
  j.add("product_bytes", known(r.product_bytes));
  j.add("stored_bytes", number(r.stored_bytes));
  j.add("gbps", number(1e-9 * bytes_a_second(r)));
  j.add("ceiling_gbps", known(1e-9 * c.ceiling));
  j.add("command", text_of(c.command));
  add_history(j, r, stretches);
  return j.end();
}

} // namespace furrow::report
