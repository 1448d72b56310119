// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"

#include <furrow/communicator.hpp>

#include <algorithm>
#include <string>

namespace furrow {

std::vector<device> parse_devices(std::string_view text) {
  constexpr std::string_view prefix = "gpu:";
  constexpr std::size_t most = 256;
  if (text == "gpu:all") {
    parse_device("gpu"); // says why there is none
    std::vector<device> all;
    for (const gpu_info& g : inspect_gpus().gpus) all.push_back({device::kind::gpu, g.ordinal});
    return all;
  }
  if (!text.starts_with(prefix) || text.find(',') == text.npos) return {parse_device(text)};
  std::vector<std::string> names;
  for (std::size_t begin = prefix.size(); begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view number = text.substr(begin, end - begin);
    check(!number.empty() && number.find_first_not_of("0123456789") == number.npos, fault::usage,
          "'{}' names no GPUs: say gpu:all, or their numbers as in gpu:0,1", text);
    check(names.size() < most, fault::usage, "'{}' names more than {} GPUs", text, most);
    names.push_back(std::string(prefix) + std::string(number));
    begin = end + 1;
  }
  std::vector<device> several;
  several.reserve(names.size());
  for (const std::string& name : names) several.push_back(parse_device(name));
  return several;
}

} // namespace furrow
