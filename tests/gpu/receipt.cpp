// SPDX-License-Identifier: BSD-3-Clause
#include "receipt.hpp"

#include "kit/row_error.hpp"

#include <furrow/device.hpp>
#include <furrow/version.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace furrow {
namespace {

using json = nlohmann::ordered_json;

/// FURROW_COMMIT where somebody says it, otherwise what git says of the sources, with a + where they were changed.
std::string commit() {
  if (const char* said = std::getenv("FURROW_COMMIT")) return said;
  const std::string command = "git -C '" FURROW_SOURCE_DIR "' describe --always --abbrev=40 --dirty=+ 2>/dev/null";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return "unknown";
  std::array<char, 128> text{};
  const bool read = std::fgets(text.data(), text.size(), pipe) != nullptr;
  pclose(pipe);
  std::string result = read ? text.data() : "unknown";
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result;
}

json devices(const gpu_status& found) {
  json list = json::array();
  for (const gpu_info& g : found.gpus)
    list.push_back({{"name", g.name},
                    {"compute_capability", std::to_string(g.major) + "." + std::to_string(g.minor)},
                    {"multiprocessors", g.multiprocessors},
                    {"memory_bytes", g.memory_bytes}});
  return list;
}

class writer final : public testing::EmptyTestEventListener {
public:
  explicit writer(std::string file) : file_(std::move(file)) {}

  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    if (test.result()->Failed()) failed_.push_back(name);
    else if (test.result()->Skipped()) skipped_.push_back(name);
    else ++passed_;
  }

  void OnTestProgramEnd(const testing::UnitTest& all) override {
    const gpu_status found = inspect_gpus();
    const json receipt{{"version", version},
                       {"commit", commit()},
                       {"devices", devices(found)},
                       {"driver", found.driver_version},
                       {"runtime", found.runtime_version},
                       {"problem", found.problem},
                       {"tests",
                        {{"run", passed_ + static_cast<int>(failed_.size())},
                         {"passed", passed_},
                         {"failed", failed_},
                         {"skipped", skipped_}}},
                       {"worst_row_error", kit::worst_row_error()},
                       {"seconds", double(all.elapsed_time()) / 1000}};
    std::ofstream(file_) << receipt.dump(2) << '\n';
  }

private:
  std::string file_;
  int passed_ = 0;
  json failed_ = json::array(), skipped_ = json::array();
};

} // namespace

std::unique_ptr<testing::TestEventListener> receipt_writer(std::string file) {
  return std::make_unique<writer>(std::move(file));
}

} // namespace furrow
