// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "text_writer.hpp"

#include <furrow/view.hpp>

#include <filesystem>
#include <string>

namespace furrow::io {

/// How the numbers of a vector lie in a file: a head, and behind it pieces of as many numbers each, the last one
/// shorter, whose bytes depend on nothing but these numbers. Whoever writes the pieces, the file is the same.
class vector_format {
public:
  static constexpr index_t piece_numbers = index_t(1) << 15;

  /// By the ending of `file`: `count` vectors of `size` numbers together. Throws `fault::usage` for what the ending
  /// cannot hold.
  vector_format(const std::filesystem::path& file, index_t size, index_t count = 1);
  /// `size` numbers as they lie in memory, behind the head of another file.
  vector_format(std::string_view head, index_t size);

  index_t pieces() const { return (size_ + piece_numbers - 1) / piece_numbers; }
  bool packed() const { return packed_; } ///< head and pieces are members of a gzip file
  /// As it stands in the file.
  std::string_view head() const { return head_.text(); }
  /// Bytes of a number where all have as many; 0: digits.
  index_t bytes_of_number() const { return kind_ == text ? 0 : index_t(sizeof(double)); }
  /// The bytes of a piece, before they are packed.
  void put(cview<double> numbers, text_piece& to) const;

private:
  void put_head(std::string_view head);

  enum { text, binary, petsc } kind_ = text;
  index_t size_;
  bool packed_ = false;
  text_piece head_;
};

/// Whether the name of a text says that it is compressed. Throws `fault::usage` for what is read, but not written.
bool is_packed(const std::filesystem::path& file);

} // namespace furrow::io
