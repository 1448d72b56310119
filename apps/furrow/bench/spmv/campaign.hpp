// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bench/spmv/report.hpp"

#include "tune/ceiling.hpp"

#include <CLI/CLI.hpp>

namespace furrow::cli::spmv_bench {

/// Options that every bench of products has.
struct campaign_options {
  std::string folder;
  double seconds = 0.1;
  int repeat = 0, turns = 1;
  bool check = false, cold = false, rivals = true, json = false, ceiling = true;
  bool tune = false;
  index_t copies = 1;

  void add(CLI::App& app);
};

/// Matrices measured one after the other: what is said meanwhile, what is kept, what is left behind.
class campaign {
public:
  campaign(std::string bench, const campaign_options& o, const std::vector<precision>& values, device where);
  campaign(const campaign&) = delete;
  campaign& operator=(const campaign&) = delete;

  /// Measures one more. A matrix that fails is said by name and remembered; null then.
  /// `name`: what summary, pictures and JSON call it, where that is not its file's own name.
  const outcome* measure(const std::string& file, const std::vector<wish>& wishes, const std::string& name = {});
  /// To stdout, or to stderr where stdout is kept for JSON.
  void say(const std::string& text) const;
  /// Extra fields of the last matrix in the JSON.
  void note(const json& fields);
  /// Summary, pictures, JSON on stdout; the exit code.
  int finish();

  double ceiling() const { return ceiling_; } ///< of memory

private:
  json results() const;
  void keep() const; ///< results.json as it is so far

  std::string bench_;
  campaign_options options_;
  plan plan_;
  json conditions_;
  read_ceilings ceilings_;
  double ceiling_ = 0;
  std::vector<outcome> outcomes_;
  std::vector<json> matrices_;
  json failed_ = json::array();
  int exit_code_ = 0;
};

} // namespace furrow::cli::spmv_bench
