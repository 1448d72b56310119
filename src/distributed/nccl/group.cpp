// SPDX-License-Identifier: BSD-3-Clause
#include "group.hpp"

#include "distributed/bytes.hpp"
#include "distributed/together.hpp"

#include "core/check.hpp"

#include <chrono>
#include <utility>

namespace furrow::nccl {

void group::must(result code, const char* what) const {
  check(code == success, fault::device, "{} failed to {}: {}", by_.name(), what, by_.error_string(code));
}

handle group::used() const {
  check(handle_ != nullptr, fault::device, "NCCL has ended the work of the ranks");
  return handle_;
}

group::group(const library& by, communicator& c) : by_(by) {
  unique_id mine{};
  together(c, [&] {
    if (c.rank() == 0) must(by_.get_unique_id(&mine), "let ranks find each other");
  });
  const unique_id all = gather_each(c, mine).front();
  try {
    together(c, [&] { must(by_.init_rank(&handle_, c.size(), all, c.rank()), "bring the ranks together"); });
  } catch (...) {
    abort(); // this rank was brought there, and another one was not
    throw;
  }
}

group::~group() {
  if (handle_) by_.destroy(handle_);
}

void group::gather(const double* mine, double* all, std::size_t count, stream on) {
  const std::lock_guard lock(busy_);
  must(by_.all_gather(mine, all, count, type::f64, used(), on), "add over the ranks");
}

template <class V> void group::exchange(const halo_plan& plan, const V* packed, V* there, stream on) {
  const std::lock_guard lock(busy_);
  const handle h = used();
  constexpr const char* what = "exchange elements of vectors";
  must(by_.group_start(), what);
  result code = success;
  for (const auto& s : plan.sends)
    if (code == success) code = by_.send(packed + s.first, std::size_t(s.count), type_of<V>, s.rank, h, on);
  for (const auto& r : plan.receives)
    if (code == success) code = by_.receive(there + r.first, std::size_t(r.count), type_of<V>, r.rank, h, on);
  const result ended = by_.group_end();
  must(code, what);
  must(ended, what);
}
template void group::exchange(const halo_plan&, const double*, double*, stream);
template void group::exchange(const halo_plan&, const float*, float*, stream);

std::string group::failure() {
  const std::unique_lock lock(busy_, std::try_to_lock);
  if (!lock || !handle_) return {};
  result found = success;
  const result asked = by_.get_async_error(handle_, &found);
  if (asked != success) found = asked;
  return found == success || found == in_progress ? std::string() : std::string(by_.error_string(found));
}

/// A call that does not return has the lock: what it waits for is ended all the same.
void group::abort() noexcept {
  constexpr std::chrono::seconds usual{2};
  const std::unique_lock lock(busy_, usual);
  if (const handle was = std::exchange(handle_, nullptr)) by_.abort(was);
}

} // namespace furrow::nccl
