// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "core/gpu_room.hpp"

#include <furrow/device.hpp>

#include <fmt/format.h>

#include <charconv>

namespace furrow {

device parse_device(std::string_view text) {
  if (text == "cpu") return {};
  constexpr std::string_view prefix = "gpu:";
  int ordinal = 0;
  bool known = text == "auto" || text == "gpu";
  if (text.starts_with(prefix)) {
    const char* const end = text.data() + text.size();
    const auto [stop, code] = std::from_chars(text.data() + prefix.size(), end, ordinal);
    known = code == std::errc{} && stop == end && ordinal >= 0;
  }
  check(known, fault::usage, "there is no device '{}': choose auto, cpu, gpu or gpu:N", text);
  const gpu_status found = inspect_gpus();
  const auto count = static_cast<int>(found.gpus.size());
  if (text == "auto" && count == 0) return {};
  check(count > 0, fault::device, "no GPU can be used: {}", found.problem);
  check(ordinal < count, fault::device, "there is no gpu:{}: this machine has gpu:0 to gpu:{}", ordinal, count - 1);
  return {device::kind::gpu, ordinal};
}

std::string describe(device d) {
  if (!d.is_gpu()) return "cpu";
  const std::string name = gpu_name(d.ordinal);
  return name.empty() ? fmt::format("gpu:{}", d.ordinal) : fmt::format("gpu:{} ({})", d.ordinal, name);
}

} // namespace furrow
