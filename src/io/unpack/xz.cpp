// SPDX-License-Identifier: BSD-3-Clause
#include "codec.hpp"

#include <furrow/device.hpp>

#include <lzma.h>

namespace furrow::io {
namespace {

/// A stream says how large its dictionary is, up to 4 GiB: that much memory is taken only where it is there.
class xz final : public codec {
public:
  xz() = default;
  xz(const xz&) = delete;
  xz& operator=(const xz&) = delete;
  ~xz() override { lzma_end(&state_); }

  bool begin() override {
    // Every check sum is compared; one that the library does not know is an error.
    return lzma_stream_decoder(&state_, limit_, LZMA_TELL_UNSUPPORTED_CHECK) == LZMA_OK;
  }
  bool can_begin(unsigned char first) const override { return first == 0xFD; }

  outcome step(flow& f) override {
    state_.next_in = reinterpret_cast<const std::uint8_t*>(f.in);
    state_.avail_in = f.in_left;
    state_.next_out = reinterpret_cast<std::uint8_t*>(f.out);
    state_.avail_out = f.out_left;
    said_ = lzma_code(&state_, LZMA_RUN);
    f = {reinterpret_cast<const char*>(state_.next_in), state_.avail_in, reinterpret_cast<char*>(state_.next_out),
         state_.avail_out};
    switch (said_) {
    case LZMA_OK:
    case LZMA_BUF_ERROR: // wants more bytes
      return outcome::going;
    case LZMA_STREAM_END:
      return outcome::ended;
    case LZMA_MEM_ERROR:
    case LZMA_MEMLIMIT_ERROR:
      return outcome::no_memory;
    default:
      return outcome::corrupt;
    }
  }
  std::string why() const override {
    if (said_ == LZMA_UNSUPPORTED_CHECK) return "its kind of check sum is not known";
    return said_ == LZMA_OPTIONS_ERROR ? "it uses what this program does not know" : "";
  }

private:
  std::uint64_t limit_ = static_cast<std::uint64_t>(available_host_memory());
  lzma_stream state_ = LZMA_STREAM_INIT;
  lzma_ret said_ = LZMA_OK;
};

} // namespace

std::unique_ptr<codec> make_xz() { return std::make_unique<xz>(); }

} // namespace furrow::io
