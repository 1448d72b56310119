// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"
#include "options.hpp"
#include "text.hpp"

#include "core/check.hpp"
#include "io/atomic_file.hpp"
#include "io/ending.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sys/stat.h>
#include <unistd.h>

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

bool is_standard_output(const std::string& file) {
  using about_file = struct stat;
  about_file here{}, there{};
  return file == "-" || (::stat(file.c_str(), &here) == 0 && ::fstat(STDOUT_FILENO, &there) == 0 &&
                         here.st_dev == there.st_dev && here.st_ino == there.st_ino);
}

std::string matrix_ending(const std::string& file) {
  const bool direct = file == "-" || !io::is_replaced(file);
  for (const char* ending : {".mtx", ".mtx.gz", ".furrow", ".petsc"})
    if (io::has_ending(file, ending)) {
      check(!direct || ending != std::string_view(".furrow"), fault::usage,
            "{}: a .furrow file is not written from its beginning to its end, as a pipe takes it: choose .mtx, .mtx.gz "
            "or .petsc",
            file);
      return ending;
    }
  check(direct, fault::usage,
        "{}: a matrix is written as .mtx, .mtx.gz, .furrow or .petsc: choose one of these endings", file);
  return ".mtx";
}

void write_problem(const problem& p, const std::string& file, const std::string& input) {
  const std::string ending = matrix_ending(file);
  if (ending == ".furrow") return write_cache(p, file);
  if (ending == ".petsc") return write_petsc(p, file);
  const bool with_b = p.b && io::has_ending(file, ending); // otherwise it has no place beside the matrix
  const std::size_t stem = with_b ? file.size() - ending.size() : 0;
  const std::string beside = with_b ? file.substr(0, stem) + "_b" + file.substr(stem) : "";
  check_output(beside, "OUT", {input});
  write_matrix(p.a, file, p.origin);
  if (p.b && !with_b)
    remark(fmt::format("the right-hand side that came with the matrix is left out: {} holds one matrix",
                       place_text(file)));
  if (!with_b) return;
  write_vector(as_cview(*p.b), beside);
  remark(fmt::format("the right-hand side that came with the matrix is in {}", beside));
}

} // namespace furrow::cli
