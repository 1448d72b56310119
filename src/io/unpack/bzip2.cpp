// SPDX-License-Identifier: BSD-3-Clause
#include "codec.hpp"

#include <bzlib.h>

namespace furrow::io {
namespace {

class bzip2 final : public codec {
public:
  bzip2() = default;
  bzip2(const bzip2&) = delete;
  bzip2& operator=(const bzip2&) = delete;
  ~bzip2() override { BZ2_bzDecompressEnd(&state_); }

  bool begin() override {
    BZ2_bzDecompressEnd(&state_);
    state_ = {};
    return BZ2_bzDecompressInit(&state_, 0, 0) == BZ_OK;
  }
  bool can_begin(unsigned char first) const override { return first == 'B'; }

  outcome step(flow& f) override {
    state_.next_in = const_cast<char*>(f.in); // is only read
    state_.avail_in = static_cast<unsigned>(f.in_left);
    state_.next_out = f.out;
    state_.avail_out = static_cast<unsigned>(f.out_left);
    const int said = BZ2_bzDecompress(&state_);
    f = {state_.next_in, state_.avail_in, state_.next_out, state_.avail_out};
    switch (said) {
    case BZ_OK:
      return outcome::going;
    case BZ_STREAM_END:
      return outcome::ended;
    case BZ_MEM_ERROR:
      return outcome::no_memory;
    default:
      return outcome::corrupt;
    }
  }

private:
  bz_stream state_{};
};

} // namespace

std::unique_ptr<codec> make_bzip2() { return std::make_unique<bzip2>(); }

} // namespace furrow::io
