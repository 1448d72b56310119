// SPDX-License-Identifier: BSD-3-Clause
#include "codec.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <bit>
#include <zstd.h>
#include <zstd_errors.h>

namespace furrow::io {
namespace {

/// Frames of zstd, skippable ones among them. A frame says how large its window is, up to 2 GiB: that much memory is
/// taken only where it is there.
class zstd final : public codec {
public:
  bool begin() override {
    if (!state_) return false;
    return !ZSTD_isError(ZSTD_DCtx_reset(state_.get(), ZSTD_reset_session_only)) &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(state_.get(), ZSTD_d_windowLogMax, window_));
  }
  bool can_begin(unsigned char first) const override { return first == 0x28 || (first & 0xF0) == 0x50; }

  outcome step(flow& f) override {
    ZSTD_inBuffer in{f.in, f.in_left, 0};
    ZSTD_outBuffer out{f.out, f.out_left, 0};
    said_ = ZSTD_decompressStream(state_.get(), &out, &in);
    f = {f.in + in.pos, f.in_left - in.pos, f.out + out.pos, f.out_left - out.pos};
    if (said_ == 0) return outcome::ended;
    if (!ZSTD_isError(said_)) return outcome::going;
    const ZSTD_ErrorCode code = ZSTD_getErrorCode(said_);
    const bool memory = code == ZSTD_error_memory_allocation || code == ZSTD_error_frameParameter_windowTooLarge;
    return memory ? outcome::no_memory : outcome::corrupt;
  }
  std::string why() const override { return ZSTD_getErrorName(said_); }

private:
  int window_ =
      std::clamp(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(available_host_memory()))) - 2, 20,
                 31); ///< in bits: two windows fit
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> state_{ZSTD_createDCtx(), ZSTD_freeDCtx};
  std::size_t said_ = 0;
};

} // namespace

std::unique_ptr<codec> make_zstd() { return std::make_unique<zstd>(); }

} // namespace furrow::io
