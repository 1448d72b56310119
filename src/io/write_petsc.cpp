// SPDX-License-Identifier: BSD-3-Clause
#include "write_petsc.hpp"
#include "atomic_file.hpp"
#include "core/check.hpp"
#include "core/printable.hpp"
#include "core/triplets.hpp"
#include "petsc_layout.hpp"

#include <furrow/io.hpp>

#include <limits>
#include <vector>

namespace furrow {
namespace io {
namespace {

/// Numbers that go to a file in blocks.
class petsc_writer {
public:
  explicit petsc_writer(const std::filesystem::path& file) : out_(file) {}

  template <class T> void put(T number) {
    if (held_ + sizeof number > block_.size()) flush();
    put_petsc(block_.data() + held_, number);
    held_ += sizeof number;
  }
  void put_vector(cview<double> x) {
    put(petsc_vector);
    put(static_cast<std::int32_t>(x.size));
    for (const double v : x) put(v);
  }
  void commit() {
    flush();
    out_.commit();
  }

private:
  void flush() {
    out_.write(block_.data(), held_);
    held_ = 0;
  }

  atomic_file out_;
  std::vector<char> block_ = std::vector<char>(std::size_t(1) << 18);
  std::size_t held_ = 0;
};

} // namespace

void check_petsc_length(index_t n, const char* what, const std::filesystem::path& file) {
  constexpr index_t most = std::numeric_limits<std::int32_t>::max();
  check(n <= most, fault::usage,
        "{}: {} {} are more than the 32-bit integers of a PETSc file count: write a .furrow file",
        printable(file.string()), n, what);
}

} // namespace io

void write_petsc(const problem& p, const std::filesystem::path& file) {
  using namespace io;
  check_triplets(p.a);
  check(!p.b || p.b->size() == p.a.shape.rows, fault::usage,
        "the right-hand side has {} elements for a matrix of {} rows", p.b ? p.b->size() : 0, p.a.shape.rows);
  check_petsc_length(p.a.nnz(), "entries", file);
  petsc_writer out(file);
  for (const index_t number : {index_t(petsc_matrix), p.a.shape.rows, p.a.shape.cols, p.a.nnz()})
    out.put(static_cast<std::int32_t>(number));
  for (index_t i = 0, k = 0; i < p.a.shape.rows; ++i) {
    const index_t first = k;
    while (k < p.a.nnz() && p.a.row[k] == i) ++k;
    out.put(static_cast<std::int32_t>(k - first));
  }
  for (const std::int32_t col : p.a.col) out.put(col);
  for (const double v : p.a.val) out.put(v);
  if (p.b) out.put_vector(as_cview(*p.b));
  out.commit();
}

} // namespace furrow
