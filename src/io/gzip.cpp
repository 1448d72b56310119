// SPDX-License-Identifier: BSD-3-Clause
#include "byte_stream.hpp"
#include "refuse.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <vector>
#include <zlib.h>

namespace furrow::io {
namespace {

class gzip_stream final : public byte_stream {
public:
  explicit gzip_stream(const std::filesystem::path& file)
      : name_(file.string()), in_(open_file(file)), packed_(1 << 16) {
    check(inflateInit2(&state_, 15 + 16) == Z_OK, fault::memory, "{}: no memory to decompress it", name_);
  }
  gzip_stream(const gzip_stream&) = delete;
  gzip_stream& operator=(const gzip_stream&) = delete;
  ~gzip_stream() override { inflateEnd(&state_); }

  std::size_t read(char* to, std::size_t wanted) override {
    const uInt limit = static_cast<uInt>(std::min<std::size_t>(wanted, 1u << 30));
    state_.next_out = reinterpret_cast<Bytef*>(to);
    state_.avail_out = limit;
    while (!done_ && state_.avail_out > 0) {
      if (state_.avail_in == 0 && !refill()) {
        if (between_) break;
        refuse(name_, "the gzip stream is cut short");
      }
      if (between_ && !next_member()) break;
      switch (inflate(&state_, Z_NO_FLUSH)) {
      case Z_OK:
        break;
      case Z_BUF_ERROR:
        break; // wants more bytes
      case Z_STREAM_END:
        between_ = true;
        break;
      case Z_MEM_ERROR:
        throw error(fault::memory, name_ + ": no memory to decompress it");
      default:
        refuse(name_,
               std::string("the gzip stream is corrupt") + (state_.msg ? ": " : "") + (state_.msg ? state_.msg : ""));
      }
    }
    return limit - state_.avail_out;
  }

private:
  bool refill() {
    const std::size_t got = in_->read(packed_.data(), packed_.size());
    state_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    state_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }
  /// Behind a member comes another one, or nothing but zeros.
  bool next_member() {
    if (*state_.next_in == 0) {
      do {
        if (std::any_of(state_.next_in, state_.next_in + state_.avail_in, [](Bytef b) { return b != 0; }))
          refuse(name_, "there is something else behind the gzip stream");
      } while (refill());
      done_ = true;
      return false;
    }
    if (*state_.next_in != 0x1F) refuse(name_, "there is something else behind the gzip stream");
    inflateReset(&state_);
    between_ = false;
    return true;
  }

  std::string name_;
  std::unique_ptr<byte_stream> in_;
  std::vector<char> packed_;
  z_stream state_{};
  bool between_ = false, done_ = false;
};

} // namespace

std::unique_ptr<byte_stream> open_gzip(const std::filesystem::path& file) {
  return std::make_unique<gzip_stream>(file);
}

} // namespace furrow::io
