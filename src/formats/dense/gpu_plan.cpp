// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_plan.hpp"

#include <fmt/format.h>

namespace furrow::dense {

std::string text_of(const gpu_plan& p) {
  std::string text = fmt::format("{} blocks: {} tiles of {} outputs", p.blocks, p.tiles, p.outputs);
  switch (p.kind) {
  case gpu_kind::along:
    text = fmt::format("along, {} threads for {} lines, ", p.lanes, p.rows) + text;
    break;
  case gpu_kind::lines:
    return fmt::format("along, {} lines together, {} pieces of {} rounds", p.rows, p.pieces, p.terms);
  case gpu_kind::strips:
    text = "along, x in registers, " + text;
    break;
  case gpu_kind::rows:
    return fmt::format("along, {} threads for {} short lines, {}", p.lanes, p.rows, text);
  case gpu_kind::packed:
    return "along, whole lines in a load, " + text;
  case gpu_kind::units:
    return fmt::format("along, {} lines in {} loads through shared memory, {}", p.rows, p.lanes, text);
  case gpu_kind::staged:
    return "along, short lines through shared memory, " + text;
  case gpu_kind::across:
    text = "across, " + text;
    break;
  case gpu_kind::alone:
    text = "across, a block a multiprocessor, " + text;
    break;
  case gpu_kind::cluster:
    return fmt::format("across, clusters of {} blocks, {}", cluster_blocks, text);
  case gpu_kind::few:
    return fmt::format("across, up to {} lines at a time, {}", p.rows, text);
  case gpu_kind::stream:
    return fmt::format("across, as one stream of {} blocks of {} threads", p.pieces, p.active);
  case gpu_kind::flat:
    return fmt::format("across, as one stream of {} threads, {} pieces of {} rounds", p.active, p.pieces, p.terms);
  }
  return p.pieces > 1 ? fmt::format("{}, {} pieces of {} terms", text, p.pieces, p.terms) : text;
}

} // namespace furrow::dense
