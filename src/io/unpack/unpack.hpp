// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "io/byte_stream.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace furrow::io {

/// How the bytes of a file are compressed.
enum class packing { none, gzip, bzip2, xz, zstd };

/// By the first bytes of the file.
packing packing_of(std::string_view first_bytes);

/// The bytes inside a compressed stream of one member or several; sizes and checksums are checked. What follows the
/// last member must be zeros (padding of tapes). `name` is for messages. `none`: the stream as it is.
std::unique_ptr<byte_stream> unpacked(packing how, std::unique_ptr<byte_stream> below, const std::string& name);

/// No byte of such a stream makes more bytes of text than this.
double largest_ratio(packing how);

} // namespace furrow::io
