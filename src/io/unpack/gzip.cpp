// SPDX-License-Identifier: BSD-3-Clause
#include "codec.hpp"

#include <zlib.h>

namespace furrow::io {
namespace {

class gzip final : public codec {
public:
  gzip() = default;
  gzip(const gzip&) = delete;
  gzip& operator=(const gzip&) = delete;
  ~gzip() override { inflateEnd(&state_); }

  bool begin() override {
    constexpr int window = 15, with_gzip_head = 16;
    return (state_.state ? inflateReset(&state_) : inflateInit2(&state_, window + with_gzip_head)) == Z_OK;
  }
  bool can_begin(unsigned char first) const override { return first == 0x1F; }

  outcome step(flow& f) override {
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(f.in)); // is only read
    state_.avail_in = static_cast<uInt>(f.in_left);
    state_.next_out = reinterpret_cast<Bytef*>(f.out);
    state_.avail_out = static_cast<uInt>(f.out_left);
    const int said = inflate(&state_, Z_NO_FLUSH);
    f = {reinterpret_cast<const char*>(state_.next_in), state_.avail_in, reinterpret_cast<char*>(state_.next_out),
         state_.avail_out};
    switch (said) {
    case Z_OK:
    case Z_BUF_ERROR: // wants more bytes
      return outcome::going;
    case Z_STREAM_END:
      return outcome::ended;
    case Z_MEM_ERROR:
      return outcome::no_memory;
    default:
      return outcome::corrupt;
    }
  }
  std::string why() const override { return state_.msg ? state_.msg : ""; }

private:
  z_stream state_{};
};

} // namespace

std::unique_ptr<codec> make_gzip() { return std::make_unique<gzip>(); }

} // namespace furrow::io
