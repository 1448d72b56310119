// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace furrow::io {

/// Bytes that go into a codec and room for those that come out; each step moves both forward.
struct flow {
  const char* in = nullptr;
  std::size_t in_left = 0;
  char* out = nullptr;
  std::size_t out_left = 0;
};

/// One kind of compression, as unpack.cpp drives it: begin, steps until `ended`, begin again for the next member.
struct codec {
  enum class outcome { going, ended, corrupt, no_memory };

  virtual ~codec() = default;
  /// A new member. False where there is no memory for it.
  virtual bool begin() = 0;
  /// Whether a member can begin with this byte.
  virtual bool can_begin(unsigned char first) const = 0;
  virtual outcome step(flow& f) = 0;
  /// What is corrupt, in the words of the library; may be empty.
  virtual std::string why() const { return {}; }
};

std::unique_ptr<codec> make_gzip();
std::unique_ptr<codec> make_bzip2();
std::unique_ptr<codec> make_xz();
std::unique_ptr<codec> make_zstd();

} // namespace furrow::io
