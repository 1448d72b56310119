// SPDX-License-Identifier: BSD-3-Clause
#include "ending.hpp"
#include "may_be_symmetric.hpp"
#include "refuse.hpp"
#include "text_writer.hpp"
#include "vector_format.hpp"

#include "core/check.hpp"

#include <furrow/io.hpp>

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <memory>

namespace furrow {
namespace io {

void text_piece::pack() {
  constexpr int level = 6;
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> tool(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  check(tool != nullptr, fault::memory, "no memory to compress");
  std::vector<char> out(libdeflate_gzip_compress_bound(tool.get(), size_));
  size_ = libdeflate_gzip_compress(tool.get(), room_.data(), size_, out.data(), out.size());
  require(size_ > 0, "a piece of text did not fit its bound");
  room_ = std::move(out);
}

namespace {

constexpr index_t entries_at_once = 1 << 15;

/// Whether `a` equals its transpose bit by bit; `lower`: entries on and below the diagonal. One pass: where row i meets
/// its entry (i, j) below the diagonal, the next entry of row j that is still unmatched must be (j, i).
bool is_symmetric(const coo<double>& a, index_t& lower) {
  index_t below = 0, above = 0;
  if (!may_be_symmetric(a.shape, a.nnz())) return false;
  host_array<index_t> next(a.shape.rows + 1, a.nnz()); // in row j, the first entry above the diagonal not matched yet
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t i = a.row[k], j = a.col[k];
    below += j < i;
    above += j > i;
    if (j > i) {
      if (next[i] == a.nnz()) next[i] = k;
    } else if (j < i) {
      const index_t m = next[j];
      if (m == a.nnz() || a.row[m] != j || a.col[m] != i ||
          std::bit_cast<std::uint64_t>(a.val[m]) != std::bit_cast<std::uint64_t>(a.val[k]))
        return false;
      next[j] = m + 1;
    }
  }
  lower = a.nnz() - above;
  return above == below; // every entry below has one above of its own: with equal numbers, all are matched
}

/// `comment` as lines that begin with %.
std::string as_comment(std::string_view comment) {
  std::string out;
  while (!comment.empty()) {
    const std::size_t end = std::min(comment.find('\n'), comment.size());
    out += "% ";
    out += printable(comment.substr(0, end));
    out += '\n';
    comment.remove_prefix(std::min(end + 1, comment.size()));
  }
  return out;
}

void write_head(atomic_file& out, const std::string& head, bool packed) {
  text_piece piece;
  piece.end(std::copy(head.begin(), head.end(), piece.begin(head.size())));
  if (packed) piece.pack();
  out.write(piece.text());
}

} // namespace
} // namespace io

void write_matrix(const coo<double>& a, const std::filesystem::path& file, std::string_view comment) {
  using namespace io;
  check_triplets(a);
  for (const char* ending : {".npy", ".petsc", ".furrow"})
    check(!has_ending(file.native(), ending), fault::usage,
          "{}: this writes Matrix Market, as .mtx or .mtx.gz, and no {}", printable(file.string()), ending);
  const bool packed = is_packed(file);
  index_t stored = 0;
  const bool symmetric = is_symmetric(a, stored);
  if (!symmetric) stored = a.nnz();
  atomic_file out(file);
  write_head(out,
             fmt::format("%%MatrixMarket matrix coordinate real {}\n{}{} {} {}\n", symmetric ? "symmetric" : "general",
                         as_comment(comment), a.shape.rows, a.shape.cols, stored),
             packed);
  const index_t pieces = (a.nnz() + entries_at_once - 1) / entries_at_once;
  write_pieces(out, pieces, packed, [&](index_t piece, text_piece& to) {
    const index_t first = piece * entries_at_once, last = std::min(a.nnz(), first + entries_at_once);
    char* p = to.begin(static_cast<std::size_t>(last - first) * (2 * longest_index + longest_value));
    for (index_t k = first; k < last; ++k) {
      if (symmetric && a.col[k] > a.row[k]) continue;
      p = put(p, index_t(a.row[k]) + 1);
      *p++ = ' ';
      p = put(p, index_t(a.col[k]) + 1);
      *p++ = ' ';
      p = put(p, a.val[k]);
      *p++ = '\n';
    }
    to.end(p);
  });
  out.commit();
}

} // namespace furrow
