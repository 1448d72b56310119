// SPDX-License-Identifier: BSD-3-Clause
#include "conditions.hpp"

#include "core/check.hpp"
#include "core/environment.hpp"
#include "core/libraries.hpp"
#include "core/processor.hpp"

#include <furrow/formats.hpp>
#include <furrow/version.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace furrow::cli {

json conditions(device where, rivals all) {
  json j;
  const std::string_view commit = environment("FURROW_COMMIT");
  j["version"] = version;
  j["commit"] = commit.empty() ? FURROW_COMMIT : commit;
  j["device"] = describe(where);
  j["threads"] = threads();
  const machine m = typical_machine(where);
  j["machine"] = {{"read", m.read},
                  {"cache_read", m.cache_read},
                  {"cache", m.cache},
                  {"latency", m.latency},
                  {"processors", m.processors}};
  if (!where.is_gpu()) j["machine"].update({{"last_cache", m.last_cache}, {"by_intel", m.by_intel}});
  j["processor"] = inspect_processor().name;
  j["instruction_set"] = instruction_set();
  if (where.is_gpu()) {
    const auto status = inspect_gpus();
    j["driver"] = status.driver_version;
    j["runtime"] = status.runtime_version;
    for (const auto& g : status.gpus)
      if (g.ordinal == where.ordinal) j["l2_bytes"] = g.l2_bytes;
  }
  j["rivals"] = json::array();
  for (const auto& l : all) {
    if (l.where != where.what) continue;
    json one{{"library", l.name}, {"version", nullptr}};
    if (l.present()) one["version"] = l.version();
    else one["remedy"] = l.remedy;
    j["rivals"].push_back(std::move(one));
  }
  return j;
}

std::string present_rivals(device where, rivals all) {
  std::string text;
  for (const auto& l : all)
    if (l.where == where.what && l.present())
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", l.name, l.version());
  return text.empty() ? "none" : text;
}

std::string absent_rivals(device where, rivals all) {
  std::string text;
  for (const auto& l : all)
    if (l.where == where.what && !l.present())
      text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", l.name, l.remedy);
  return text.empty() ? text : "rivals left out: " + text;
}

void make_folder(const std::string& folder) {
  check(folder != "-", fault::usage,
        "'-' is standard output, and the results are several files: name a folder (./- for one of this name)");
  std::error_code failure;
  const auto above = std::filesystem::path(std::filesystem::path(folder) / "").parent_path().parent_path();
  check(above.empty() || std::filesystem::is_directory(above, failure), fault::input,
        "{}: cannot be made: the folder that it is to be in does not exist: make that, or choose another one", folder);
  std::filesystem::create_directory(folder, failure);
  check(std::filesystem::is_directory(folder, failure), fault::input,
        "{}: cannot be made: choose another folder for the results", folder);
}

void write_into(const std::string& folder, const std::string& name, const std::string& text) {
  write_file(std::filesystem::path(folder) / name, text);
}

} // namespace furrow::cli
