// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include "core/environment.hpp"
#include "core/late_library.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace furrow::nccl {

std::string library::name() const {
  return fmt::format("NCCL {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

search look_for(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders) {
  search s;
  const late_library from = open_late(names, folders);
  if (s.why = from.why; !from.handle) return s;
  library l;
  l.file = from.file;
  const bool whole = from.has("ncclGetVersion", l.get_version) && from.has("ncclGetUniqueId", l.get_unique_id) &&
                     from.has("ncclCommInitRank", l.init_rank) && from.has("ncclCommDestroy", l.destroy) &&
                     from.has("ncclCommAbort", l.abort) && from.has("ncclCommGetAsyncError", l.get_async_error) &&
                     from.has("ncclGetErrorString", l.error_string) && from.has("ncclAllGather", l.all_gather) &&
                     from.has("ncclSend", l.send) && from.has("ncclRecv", l.receive) &&
                     from.has("ncclGroupStart", l.group_start) && from.has("ncclGroupEnd", l.group_end);
  if (!whole || l.get_version(&l.version) != success)
    s.why = fmt::format("cannot be used ({} lacks functions)", l.file.string());
  else if (l.version < oldest_version) s.why = fmt::format("is too old ({}, and 2.14 is needed)", l.name());
  else s.found = l;
  return s;
}

const search& searched() {
  static const search once = [] {
    if (const auto named = environment("FURROW_NCCL"); !named.empty()) return look_for({std::string(named)}, {});
    return look_for({"libnccl.so.2"}, cuda_folders("nccl"));
  }();
  return once;
}

std::string sentence(const search& s) {
  return fmt::format("NCCL, libnccl.so.2, {}: pip install nvidia-nccl-cu13 has it; name its folder in LD_LIBRARY_PATH, "
                     "or the file in FURROW_NCCL",
                     s.why);
}

void keep_to_graphs() {
  setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 0); // NOLINT(concurrency-mt-unsafe): the caller has no threads yet
}

} // namespace furrow::nccl
