// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"
#include "summary.hpp"

namespace furrow::cli::spmv_bench {
namespace {

/// What each format found for itself.
json estimates_of(const stats& s) {
  json j = json::object();
  for (const format_estimate& e : s.estimates) j[e.format] = e.number;
  return j;
}

/// All that `stats` knows as numbers: what a model of the best format is fitted to.
json json_of(const stats& s) {
  return {{"rows", s.shape.rows},
          {"cols", s.shape.cols},
          {"nnz", s.nnz},
          {"row_min", s.row_min},
          {"row_max", s.row_max},
          {"row_mean", number(s.row_mean)},
          {"row_deviation", number(s.row_deviation)},
          {"mispredicted_lengths", s.mispredicted_lengths},
          {"empty_rows", s.empty_rows},
          {"row_histogram", s.row_histogram},
          {"lower_bandwidth", s.lower_bandwidth},
          {"upper_bandwidth", s.upper_bandwidth},
          {"diagonals", s.diagonals},
          {"zero_diagonal", s.zero_diagonal},
          {"explicit_zeros", s.explicit_zeros},
          {"sectors_by_row", s.near.by_row},
          {"sectors_by_slice", s.near.by_slice},
          {"sectors_by_window", s.near.by_window},
          {"blocks", s.blocks},
          {"distinct_values", s.distinct_values},
          {"estimates", estimates_of(s)},
          {"norm_inf", number(s.norm_inf)},
          {"largest", number(s.largest)},
          {"finite", s.finite}};
}

json json_of(const product& m, const outcome& o) {
  json j{{"library", m.library},
         {"format", m.format},
         {"kernel", m.kernel},
         {"precision", name_of(m.values)},
         {"seconds", m.time.median},
         {"seconds_fastest", m.time.fastest},
         {"repeats", m.time.repeats},
         {"bytes", m.bytes},
         {"places", m.places},
         {"longest", m.longest},
         {"gflops", number(m.gflops(o.s.nnz))},
         {"gbps", number(m.gbps())},
         {"ceiling_gbps", number(1e-9 * m.ceiling)},
         {"fraction", number(m.fraction())},
         {"lies_in", m.lies_in},
         {"setup_seconds", m.setup},
         {"setup_products", number(m.setup / m.time.median)},
         {"best", &m == o.best(m.values)},
         {"chosen", m.chosen}};
  if (m.tuned) j["tuned"] = true;
  if (m.row_error) j["max_row_error"] = number(*m.row_error);
  return j;
}

json json_of(const ratio_summary& r) {
  return {{"geometric_mean", r.geometric_mean}, {"worst", r.worst}, {"best", r.best}, {"matrices", r.count}};
}

json json_of(const std::map<std::string, ratio_summary>& table) {
  json j = json::object();
  for (const auto& [name, r] : table)
    if (r.count) j[name] = json_of(r);
  return j;
}

/// A way by name, with its speed.
json brief(const product& m, const outcome& o) {
  return {{"format", m.format}, {"kernel", m.kernel}, {"gflops", number(m.gflops(o.s.nnz))}};
}

} // namespace

json json_of(const outcome& o, const std::vector<precision>& values) {
  json j{{"matrix", o.name}, {"file", o.file}, {"seconds_read", o.read_seconds}, {"stats", json_of(o.s)}};
  for (const precision p : values) {
    const product *best = o.best(p), *chosen = o.chosen(p);
    if (best) j["best"][name_of(p)] = brief(*best, o);
    if (!best || !chosen) continue;
    j["auto"][name_of(p)] = brief(*chosen, o);
    j["auto"][name_of(p)]["of_the_best"] = best->time.median / chosen->time.median;
  }
  j["results"] = json::array();
  for (const auto& m : o.products) j["results"].push_back(json_of(m, o));
  j["left_out"] = json::array();
  for (const auto& s : o.skipped)
    j["left_out"].push_back({{"library", s.library},
                             {"format", s.format},
                             {"kernel", s.kernel},
                             {"precision", name_of(s.values)},
                             {"why", s.why}});
  return j;
}

json summary_json(const std::vector<outcome>& all, const std::vector<precision>& values) {
  json j = json::object();
  for (const precision p : values) {
    const summary s = summarize(all, p);
    if (s.wins.empty()) continue;
    j[name_of(p)] = {{"auto_to_best", json_of(s.auto_to_best)},
                     {"format_to_csr", json_of(s.format_to_csr)},
                     {"auto_to_rival", json_of(s.auto_to_rival)},
                     {"best_to_rival", json_of(s.best_to_rival)},
                     {"wins", s.wins}};
    if (s.tuned_to_best.count) j[name_of(p)]["tuned_to_best"] = json_of(s.tuned_to_best);
  }
  return j;
}

} // namespace furrow::cli::spmv_bench
