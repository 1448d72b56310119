// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace furrow::bench {

/// What a benchmark of matrices is asked for: `[--json FILE] [MATRIX...]`.
struct request {
  std::string json_file; ///< empty: none
  std::vector<std::string> names;
};

/// `usual`: the matrices where none are named.
inline request read_request(int argc, char** argv, std::vector<std::string> usual) {
  request r;
  for (int k = 1; k < argc; ++k) {
    if (std::string(argv[k]) == "--json" && k + 1 < argc) r.json_file = argv[++k];
    else r.names.emplace_back(argv[k]);
  }
  if (r.names.empty()) r.names = std::move(usual);
  return r;
}

} // namespace furrow::bench
