// SPDX-License-Identifier: BSD-3-Clause
#include "exit_code.hpp"
#include "machine.hpp"
#include "nearest.hpp"
#include "options.hpp"
#include "output.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include "chebyshev/cufft.hpp"
#include "core/environment.hpp"
#include "core/libraries.hpp"
#include "core/processor.hpp"

#include <furrow/version.hpp>

#include <CLI/Version.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace furrow::cli::doctor_command {
namespace {

/// What is missing and what to do about it.
struct ailment {
  std::string what, remedy;
};

/// `with_gpu`: also those that are opened when a GPU needs them, where they are found.
std::vector<library> all_libraries(bool with_gpu) {
  auto all = libraries();
  if (with_gpu) {
    const auto& cufft = chebyshev::cufft::searched().found;
    if (cufft) all.push_back({"cuFFT", cufft->version_text(), "Chebyshev products on a GPU"});
  }
  all.push_back({"CLI11", CLI11_VERSION, "command line"});
  all.push_back(
      {"nlohmann-json",
       fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH),
       "JSON"});
  return all;
}

/// The instruction set, or "" where FURROW_ISA asks for one that does not exist.
std::string isa_or_nothing() {
  try {
    return instruction_set();
  } catch (const error&) {
    return "";
  }
}

const std::vector<std::string>& known_variables() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& v : environment_variables()) all.emplace_back(v.name);
    return all;
  }();
  return names;
}

std::vector<ailment> ailments(const gpu_status& gpu, const std::string& isa) {
  std::vector<ailment> found;
  for (const auto& v : environment_variables())
    if (const auto wrong = mistake_in(v); !wrong.empty())
      found.push_back({fmt::format("a value of {} that makes sense", v.name), std::string(wrong)});
  for (const auto& [name, value] : settings())
    if (name.starts_with("FURROW_") && std::ranges::find(known_variables(), name) == known_variables().end()) {
      const std::string guess = nearest(name, known_variables());
      found.push_back(
          {name + " is no variable of Furrow", guess.empty() ? "'furrow help environment' lists them" : guess + " is"});
    }
  if (!gpu.built)
    found.push_back(
        {"this build has no GPU part", "install the CUDA toolkit and configure again with -DFURROW_GPU=ON"});
  else if (gpu.gpus.empty())
    found.push_back({fmt::format("no GPU can be used: {}", gpu.problem), "check 'nvidia-smi' and the driver"});
  for (const auto& g : gpu.gpus)
    if (!g.graphs)
      found.push_back({fmt::format("gpu:{}: the driver runs no loops inside graphs", g.ordinal),
                       "a newer driver makes solvers wait less"});
  if (!gpu.gpus.empty() && !chebyshev::cufft::searched().found)
    found.push_back({fmt::format("cuFFT, for Chebyshev products on a GPU, {}", chebyshev::cufft::searched().why),
                     "pip install nvidia-cufft has it"});
  if (isa == "baseline") found.push_back({"the CPU kernels run without AVX2", "use a processor of the last ten years"});
  if (available_host_memory() < 1'000'000'000)
    found.push_back({"less than 1 GB of memory is available", "close other programs"});
  return found;
}

std::string text_of() {
  const processor p = inspect_processor();
  const gpu_status gpu = inspect_gpus();
  const std::string isa = isa_or_nothing();
  std::string caches;
  for (const auto& [name, bytes] : p.caches)
    caches += fmt::format("{}{} {:.0f} KiB", caches.empty() ? "" : ", ", name, bytes / 1024);
  std::string text = fmt::format("{}\n\n", bold(fmt::format("furrow {}", version)));
  text += line("processor", p.name);
  text += line("", fmt::format("kernels for {}, {} thread{}", isa.empty() ? "nothing" : isa, threads(),
                               threads() == 1 ? "" : "s"));
  if (!caches.empty()) text += line("caches", caches);
  text += line("memory", fmt::format("{}, {} available", bytes_text(total_memory()),
                                     bytes_text(double(available_host_memory()))));
  for (const auto& g : gpu.gpus) {
    text += line(fmt::format("gpu:{}", g.ordinal), fmt::format("{}, compute capability {}.{}, {} multiprocessors",
                                                               g.name, g.major, g.minor, g.multiprocessors));
    text += line("", fmt::format("{}, {} free, L2 {}", bytes_text(double(g.memory_bytes)),
                                 bytes_text(double(g.free_bytes)), bytes_text(double(g.l2_bytes))));
  }
  if (gpu.gpus.empty()) text += line("gpu", gpu.problem);
  if (!gpu.driver_version.empty() || !gpu.runtime_version.empty())
    text += line("CUDA", fmt::format("driver {}, runtime {}", gpu.driver_version.empty() ? "none" : gpu.driver_version,
                                     gpu.runtime_version));
  bool first = true;
  for (const auto& l : all_libraries(gpu.built)) {
    text += line(first ? "libraries" : "", fmt::format("{:<14} {:<8} {}", l.name, l.version, l.purpose));
    first = false;
  }
  for (const auto& [name, value] : settings()) text += line("setting", fmt::format("{}={}", name, value));
  text += "\n";
  const auto missing = ailments(gpu, isa);
  if (missing.empty()) text += good("Nothing is missing.") + "\n";
  for (const auto& m : missing) text += fmt::format("Missing: {}; {}.\n", m.what, m.remedy);
  return text;
}

std::string json_of() {
  const processor p = inspect_processor();
  const gpu_status gpu = inspect_gpus();
  const std::string isa = isa_or_nothing();
  json j;
  j["version"] = version;
  j["processor"] = {{"name", p.name}, {"isa", isa}, {"threads", threads()}, {"caches", json::object()}};
  for (const auto& [name, bytes] : p.caches) j["processor"]["caches"][name] = bytes;
  j["memory"] = {{"total_bytes", total_memory()}, {"available_bytes", available_host_memory()}};
  j["gpu"] = {{"built", gpu.built},
              {"problem", gpu.problem},
              {"driver", gpu.driver_version},
              {"runtime", gpu.runtime_version},
              {"devices", json::array()}};
  for (const auto& g : gpu.gpus)
    j["gpu"]["devices"].push_back({{"ordinal", g.ordinal},
                                   {"name", g.name},
                                   {"compute_capability", fmt::format("{}.{}", g.major, g.minor)},
                                   {"multiprocessors", g.multiprocessors},
                                   {"memory_bytes", g.memory_bytes},
                                   {"free_bytes", g.free_bytes},
                                   {"l2_bytes", g.l2_bytes},
                                   {"graphs", g.graphs}});
  j["libraries"] = json::object();
  for (const auto& l : all_libraries(gpu.built)) j["libraries"][l.name] = l.version;
  j["settings"] = json::object();
  for (const auto& [name, value] : settings()) j["settings"][name] = value;
  j["missing"] = json::array();
  for (const auto& m : ailments(gpu, isa)) j["missing"].push_back({{"what", m.what}, {"remedy", m.remedy}});
  return json_text(j);
}

std::function<int()> setup(CLI::App& app, context&) {
  auto as_json = std::make_shared<bool>(false);
  add_json(app, *as_json);
  app.footer("Examples:\n"
             "  furrow doctor\n"
             "  furrow doctor --json");
  return [as_json] {
    print(*as_json ? json_of() : text_of());
    return done;
  };
}

} // namespace

extern const subcommand entry{
    "doctor", "Say which hardware, drivers, libraries and settings Furrow sees, and what is missing.", setup};

} // namespace furrow::cli::doctor_command
