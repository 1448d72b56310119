// SPDX-License-Identifier: BSD-3-Clause
#include "core/check.hpp"
#include "core/environment.hpp"
#include "core/gpu_room.hpp"
#include "core/host_room.hpp"
#include "core/kernel_numbers.hpp"
#include "core/triplets.hpp"
#include "solve/as_they_are.hpp"
#include "tune/model.hpp"

#include <furrow/formats.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace furrow {
namespace {

const char* name_of(device where) { return where.is_gpu() ? "GPU" : "CPU"; }

std::string names_of(std::span<const kernel_entry> kernels) {
  std::vector<std::string_view> names;
  for (const auto& k : kernels) names.push_back(k.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

bool has(const format_entry& f, device where, std::string_view kernel) {
  return kernel == "auto" ||
         std::ranges::any_of(f.backend(where).kernels, [&](const auto& k) { return k.name == kernel_name(kernel); });
}

/// Throws `fault::usage` for what follows the name of a kernel that the format has and makes no sense there.
void check_numbers(const format_entry& f, device where, std::string_view kernel) {
  for (const auto& k : f.backend(where).kernels)
    if (k.name == kernel_name(kernel)) read_kernel_numbers(kernel, k.free, lanes_of_a_warp);
}

const format_entry& format_of(const choice& c) {
  check(c.format != nullptr, fault::usage, "the choice names no format: let choose make one");
  return *c.format;
}

/// Throws `fault::device` or `fault::usage` unless that kernel of that format runs there.
void check_kernel(const format_entry& f, std::string_view kernel, device where) {
  check(f.backend(where).f64 != nullptr, fault::device, "format {} does not run on the {}: choose auto", f.name,
        name_of(where));
  check(has(f, where, kernel), fault::usage, "format {} has no kernel '{}' on the {}: choose auto or one of {}", f.name,
        kernel_name(kernel), name_of(where), names_of(f.backend(where).kernels));
  check_numbers(f, where, kernel);
}

/// What a person asked for, on the command line or in the environment.
struct request {
  std::string format, kernel;
  std::string said_by; ///< "FURROW_FORMAT=csr" where the environment asks, otherwise empty
};

request read_wish(const wish& w) {
  request r{std::string(w.format), std::string(w.kernel), {}};
  const auto from_environment = [&](std::string& word, const char* name) {
    const std::string_view value = environment(name);
    if (word != "auto" || value.empty()) return;
    word = value;
    r.said_by += fmt::format("{}{}={}", r.said_by.empty() ? "" : " and ", name, value);
  };
  from_environment(r.format, "FURROW_FORMAT");
  from_environment(r.kernel, "FURROW_KERNEL");
  return r;
}

double triplet_bytes(const stats& s, precision p) { return (8 + bytes_of(p)) * double(s.nnz); }

/// Whether a format keeps the arrays of the triplets, as csr and coo do.
bool keeps_arrays(const layout& l, const stats& s, precision p) {
  return l.bytes <= triplet_bytes(s, p) && l.places == double(s.nnz);
}

/// Seconds to make an operator: every format sorts out the triplets once and writes what it stores; a GPU is sent it,
/// or makes it itself.
double setup_seconds(const stats& s, precision p, const layout& l, device where, const format_backend& there) {
  constexpr double convert = 1.5e9, send = 10e9, convert_on_gpu = 4e11; // bytes a second
  if (where.is_gpu() && there.rows_f64) return (triplet_bytes(s, p) + l.bytes) / convert_on_gpu;
  return (keeps_arrays(l, s, p) ? 0.2 : 1.0) * (triplet_bytes(s, p) + l.bytes) / convert +
         (where.is_gpu() ? l.bytes / send : 0);
}

/// What a conversion must promise, for the models are off by more than a few percent.
constexpr double worth_converting = 1.05;

/// One format as candidates: each of its kernels whose costs are known; or the format's own choice, by bytes alone.
void add_candidates(std::vector<candidate>& list, const choice& c, const layout& l, const stats& s, precision p,
                    device where, const machine& m) {
  const double setup = setup_seconds(s, p, l, where, c.format->backend(where));
  const auto add = [&](std::string_view kernel, const kernel_costs* costs) {
    const choice one{c.format, c.parameters, std::string(kernel), {}};
    list.push_back({one, l, expected_seconds(costs, s, p, l, m), setup});
  };
  bool found = false;
  for (const kernel_entry& k : c.format->backend(where).kernels) {
    if (!k.costs || (c.kernel != "auto" && kernel_name(c.kernel) != k.name)) continue;
    add(c.kernel == "auto" ? k.name : std::string_view(c.kernel), k.costs);
    found = true;
  }
  if (!found) add(c.kernel, nullptr);
}

/// The format that was asked for by name, checked.
choice named_choice(const request& r, const stats& s, precision p, device where) {
  const auto colon = std::min(r.format.find(':'), r.format.size());
  choice c{&find_format(std::string_view(r.format).substr(0, colon)), {}, r.kernel, {}};
  c.parameters = r.format.substr(std::min(colon + 1, r.format.size()));
  check_kernel(*c.format, r.kernel, where);
  const layout l = c.format->lay_out(s, p, c.parameters);
  check(l.refusal.empty(), fault::input, "{}", l.refusal);
  return c;
}

/// Whether a format fits into the memory. What is free of a GPU is asked only where a format is not small.
class room {
public:
  /// unlimited: the format was asked for by name, and whoever makes it says what is missing.
  room(device where, bool unlimited) : where_(where), unlimited_(unlimited) {}
  bool takes(const layout& l) {
    constexpr double little = 1 << 24;
    if (unlimited_) return true;
    if (where_.is_gpu()) return l.bytes <= little || gpu_takes(where_.ordinal, l.bytes);
    return host_.takes(l.bytes);
  }

private:
  device where_;
  bool unlimited_;
  host_room host_;
};

/// In a line: why `best`, for a person. It may be slower than another one of the list by less than `worth_converting`.
std::string reason(const std::vector<candidate>& list, const candidate& best, room& memory, const stats& s,
                   double expected_products) {
  const auto about = [&](const candidate& c) {
    return fmt::format("{}, {:.3g} bytes an entry", name_of(c.what),
                       c.stored.bytes / double(std::max<index_t>(s.nnz, 1)));
  };
  const candidate* other = nullptr; // the fastest one of the other formats
  for (const candidate& c : list)
    if (c.what.format != best.what.format && (!other || c.cost(expected_products) < other->cost(expected_products)) &&
        memory.takes(c.stored))
      other = &c;
  if (!other) return "expected to be fastest: " + about(best);
  const double ratio = other->cost(expected_products) / std::max(best.cost(expected_products), 1e-30);
  if (ratio < 1)
    return fmt::format("expected to be within {:.0f} % of the fastest, and needs no conversion: {}; fastest {}, {:.2f} "
                       "times the time",
                       100 * (worth_converting - 1), about(best), about(*other), ratio);
  return fmt::format("expected to be fastest: {}; next {}, {:.2f} times the time", about(best), about(*other), ratio);
}

/// All that agrees with the request, in no order, whether it fits into the memory or not.
std::vector<candidate> candidates(const request& r, const stats& s, precision p, device where, bool finite) {
  const machine m = typical_machine(where);
  std::vector<candidate> list;
  if (r.format != "auto") {
    const choice c = named_choice(r, s, p, where);
    add_candidates(list, c, c.format->lay_out(s, p, c.parameters), s, p, where, m);
    return list;
  }
  bool served = false, known = false;
  std::string refusal;
  for (const auto* f : formats()) {
    if (!f->backend(where).f64) continue;
    served = true;
    if (!has(*f, where, r.kernel)) continue;
    known = true;
    check_numbers(*f, where, r.kernel);
    if (!finite && f->multiplies_padding) continue;
    const layout l = f->lay_out(s, p, {});
    if (l.refusal.empty()) add_candidates(list, {f, {}, r.kernel, {}}, l, s, p, where, m);
    else refusal = l.refusal;
  }
  check(served, fault::device, "this build has no GPU part");
  check(known, fault::usage, "no format has a kernel '{}' on the {}", r.kernel, name_of(where));
  check(!list.empty() || refusal.empty(), fault::input, "the kernel '{}' is one of a format that refuses: {}", r.kernel,
        refusal);
  return list;
}

/// What a wish asks for, the cheapest first, and the memory that it needs room in.
struct ranking {
  request asked;
  room memory;
  std::vector<candidate> list;
};

ranking rank(const stats& s, precision p, device where, const wish& w) {
  if (const auto what = wrong_sides(s.shape); !what.empty()) throw error(fault::usage, what);
  check(s.nnz >= 0 && (s.row_length.empty() || s.row_length.size() == s.shape.rows), fault::usage,
        "the statistics hold {} entries and the lengths of {} rows for a matrix of {}: give those that measure makes",
        s.nnz, s.row_length.size(), s.shape.rows);
  check(w.expected_products >= 0, fault::usage, "expected_products = {} is no number of products", w.expected_products);
  const request r = read_wish(w);
  ranking all{r, room(where, r.format != "auto"), {}};
  try {
    all.list = candidates(r, s, p, where, w.finite);
  } catch (const error& e) {
    if (r.said_by.empty()) throw;
    throw error(e.kind, fmt::format("{}: {}", r.said_by, e.what()));
  }
  std::ranges::stable_sort(all.list, {}, [&](const candidate& c) {
    return c.cost(w.expected_products) * (keeps_arrays(c.stored, s, p) ? 1 : worth_converting);
  });
  return all;
}

/// The first that fits. Throws `fault::memory` where none does.
const candidate& first_that_fits(ranking& all, bool finite) {
  const auto first = std::ranges::find_if(all.list, [&](const candidate& c) { return all.memory.takes(c.stored); });
  check(first != all.list.end(), fault::memory, "{}{}no format of this matrix fits into the memory{}",
        all.asked.said_by, all.asked.said_by.empty() ? "" : ": ",
        finite ? "" : " without multiplying padding, which an x that is not finite forbids");
  return *first;
}

std::string why(ranking& all, const candidate& best, const stats& s, const wish& w) {
  const request& r = all.asked;
  if (!r.said_by.empty()) return "asked for by " + r.said_by;
  if (r.format != "auto") return "asked for";
  return (w.finite ? "" : "x is not finite, so padding must not be multiplied; ") +
         reason(all.list, best, all.memory, s, w.expected_products);
}

} // namespace

std::vector<candidate> shortlist(const stats& s, precision p, device where, const wish& w) {
  ranking all = rank(s, p, where, w);
  const std::string reason = why(all, first_that_fits(all, w.finite), s, w);
  std::erase_if(all.list, [&](const candidate& c) { return !all.memory.takes(c.stored); });
  for (candidate& c : all.list) c.what.reason = reason;
  return std::move(all.list);
}

choice choose(const stats& s, precision p, device where, const wish& w) {
  const bool sizes_only = !s.lengths_known();
  if (sizes_only && read_wish(w).format == "auto") return {&find_format("csr"), {}, "auto", "only the sizes are known"};
  ranking all = rank(s, p, where, w);
  const candidate& best = first_that_fits(all, w.finite);
  choice c = best.what;
  c.reason = why(all, best, s, w);
  return c;
}

std::optional<choice> rows_as_they_are(const wish& w, std::string why) {
  const request r = read_wish(w);
  if (r.format != "auto" || r.kernel != "auto") return {};
  return choice{&find_format("csr"), {}, "auto", std::move(why)};
}

std::string name_of(const choice& c) {
  return std::string(format_of(c).name) + (c.parameters.empty() ? "" : ":" + c.parameters);
}

template <class V> std::unique_ptr<any_operator<V>> make(const choice& c, device where, coo<V> a) {
  check_kernel(format_of(c), c.kernel, where);
  check_triplets(a);
  stats sizes;
  sizes.shape = a.shape;
  sizes.nnz = a.nnz();
  c.format->lay_out(sizes, precision_of<V>, c.parameters); // throws for parameters that make no sense
  return c.format->backend(where).make<V>()(std::move(a), c.parameters, c.kernel);
}

template std::unique_ptr<any_operator<double>> make(const choice&, device, coo<double>);
template std::unique_ptr<any_operator<float>> make(const choice&, device, coo<float>);

} // namespace furrow
