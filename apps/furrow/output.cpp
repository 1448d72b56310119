// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "options.hpp"
#include "text.hpp"

#include "io/atomic_file.hpp"
#include "io/ending.hpp"

#include <fmt/format.h>

#include <cmath>

namespace furrow::cli {

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

std::string json_text(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace) + "\n";
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  io::atomic_file out(file);
  out.write(text);
  out.commit();
}

std::string matrix_ending(const std::string& file) {
  if (file == "-") return ".mtx";
  for (const char* ending : {".mtx", ".mtx.gz", ".furrow", ".petsc"})
    if (io::has_ending(file, ending)) return ending;
  throw error(
      fault::usage,
      fmt::format("{}: a matrix is written as .mtx, .mtx.gz, .furrow or .petsc: choose one of these endings", file));
}

void write_problem(const problem& p, const std::string& file, const std::string& input) {
  const std::string ending = matrix_ending(file);
  if (ending == ".furrow") return write_cache(p, file);
  if (ending == ".petsc") return write_petsc(p, file);
  const bool with_b = p.b && file != "-";
  const std::size_t stem = with_b ? file.size() - ending.size() : 0;
  const std::string beside = with_b ? file.substr(0, stem) + "_b" + file.substr(stem) : "";
  check_output(beside, "OUT", {input});
  write_matrix(p.a, file, p.origin);
  if (p.b && !with_b)
    remark("the right-hand side that came with the matrix is left out: standard output holds one matrix");
  if (!with_b) return;
  write_vector(as_cview(*p.b), beside);
  remark(fmt::format("the right-hand side that came with the matrix is in {}", beside));
}

} // namespace furrow::cli
