// SPDX-License-Identifier: BSD-3-Clause
#include "steady.hpp"
#include "tune_until.hpp"
#include "winners.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/environment.hpp"
#include "io/checksum.hpp"

#include <furrow/tune.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace furrow {
namespace {

constexpr std::size_t most_candidates = 10;
constexpr int most_kernels = 3;       // of one format
constexpr double too_slow = 4;        // times the best forecast: not worth a try
constexpr double seconds_each = 0.05; // of timed products

template <class V> std::uint64_t fingerprint(const coo<V>& a) {
  const std::uint64_t parts[] = {static_cast<std::uint64_t>(a.shape.rows),
                                 static_cast<std::uint64_t>(a.shape.cols),
                                 sizeof(V),
                                 io::checksum(a.row.data(), a.row.byte_count()),
                                 io::checksum(a.col.data(), a.col.byte_count()),
                                 io::checksum(a.val.data(), a.val.byte_count())};
  return io::checksum(parts, sizeof parts);
}

/// The candidates that are worth a measurement: the best of each format, and none that is expected to be far off.
std::vector<candidate> worth_a_try(std::vector<candidate> list, double expected_products) {
  std::map<std::string, int> taken;
  const double best = list.front().cost(expected_products);
  std::erase_if(list, [&](const candidate& c) {
    return c.cost(expected_products) > too_slow * best || ++taken[name_of(c.what)] > most_kernels;
  });
  if (list.size() > most_candidates) list.resize(most_candidates);
  return list;
}

/// Seconds that making the operator took, and of its product.
template <class V, class Array> candidate measured(candidate c, const coo<V>& a, device where) {
  const double began = now();
  const auto op = make<V>(c.what, where, coo<V>(a));
  c.setup_seconds = now() - began;
  const Array x(host_array<V>(a.shape.cols, V(1)));
  Array y(a.shape.rows);
  const auto product = [&] { op->apply(V(1), as_cview(x), V(0), as_view(y)); };
  c.seconds = time_steadily(product, where, {.seconds = seconds_each}).median;
  c.what.kernel = op->kernel();
  return c;
}

/// What a line of the file names; nothing where this build would not have written it.
std::optional<choice> remembered(const std::vector<candidate>& list, const winner& known, device where) {
  const auto c = std::ranges::find_if(list, [&](const candidate& one) { return name_of(one.what) == known.format; });
  if (c == list.end()) return {};
  const auto kernels = c->what.format->backend(where).kernels;
  if (std::ranges::none_of(kernels, [&](const kernel_entry& k) { return k.name == known.kernel; })) return {};
  return choice{c->what.format, c->what.parameters, known.kernel,
                fmt::format("measured before: {:.4g} us a product", 1e6 * known.seconds)};
}

std::string not_remembered(const std::filesystem::path& file) {
  if (file.empty()) return " (not remembered: there is no cache file)";
  const auto named = environment("FURROW_CACHE");
  return fmt::format(" (not remembered: {}{} cannot be written)",
                     named.empty() ? "" : fmt::format("FURROW_CACHE={}: ", named), file.string());
}

} // namespace

template <class V>
choice tune_until(const coo<V>& a, const stats& s, device where, const wish& w, const std::function<bool()>& stopped) {
  check_triplets(a);
  check(s.shape == a.shape && s.nnz == a.nnz(), fault::usage,
        "the statistics are of a matrix of {} x {} with {} entries, not of this one: give those that measure makes",
        s.shape.rows, s.shape.cols, s.nnz);
  auto list = shortlist(s, precision_of<V>, where, w);
  if (list.size() == 1) return list.front().what;
  const auto file = winners_file();
  const winner_key key{fingerprint(a), fmt::format("{}, {} threads", describe(where), threads()), FURROW_BUILD};
  const bool open = w.format == "auto" && w.kernel == "auto" && !(w.expected_products < 1e18); // what the file answers
  if (open) {
    const auto known = recall(file, key);
    if (auto c = known ? remembered(list, *known, where) : std::nullopt) return *c;
  }
  list = worth_a_try(std::move(list), w.expected_products);
  const std::size_t wanted = list.size();
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (stopped()) {
      list.resize(std::max<std::size_t>(k, 1));
      break;
    }
    candidate& c = list[k];
    c = where.is_gpu() ? measured<V, gpu_array<V>>(c, a, where) : measured<V, host_array<V>>(c, a, where);
  }
  if (list.size() < wanted && list.size() == 1) {
    list.front().what.reason += ", not measured: it was stopped before two had been";
    return list.front().what;
  }
  const auto best = std::ranges::min_element(list, {}, [&](const candidate& c) { return c.cost(w.expected_products); });
  choice c = best->what;
  c.reason = fmt::format("measured: fastest of {}, {:.4g} us a product", list.size(), 1e6 * best->seconds);
  if (list.size() < wanted) c.reason += fmt::format(", {} more were left out: it was stopped", wanted - list.size());
  else if (open && !remember(file, key, {name_of(c), c.kernel, best->seconds})) c.reason += not_remembered(file);
  return c;
}

template <class V> choice tune(const coo<V>& a, const stats& s, device where, const wish& w) {
  return tune_until(a, s, where, w, [] { return false; });
}

template choice tune(const coo<double>&, const stats&, device, const wish&);
template choice tune(const coo<float>&, const stats&, device, const wish&);
template choice tune_until(const coo<double>&, const stats&, device, const wish&, const std::function<bool()>&);
template choice tune_until(const coo<float>&, const stats&, device, const wish&, const std::function<bool()>&);

} // namespace furrow
