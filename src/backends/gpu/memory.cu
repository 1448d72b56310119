// SPDX-License-Identifier: BSD-3-Clause
#include "pools.hpp"
#include "queue.hpp"
#include "staging.hpp"

#include "core/gpu_room.hpp"
#include "core/memory_place.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

namespace furrow {
namespace gpu {
namespace {

/// What pools keep at least where nobody said how much: small vectors come and go without the driver.
constexpr std::int64_t least_kept = std::int64_t(256) << 20;

/// Of `keep_gpu_memory`; below 0: nobody said.
std::atomic<std::int64_t> wanted = -1;

runtime::pool make_pool(int ordinal) {
  runtime::pool pool = nullptr;
  check(runtime::make_pool(ordinal, &pool));
  return pool;
}

/// The device whose memory it is.
int owner_of(const void* data) {
  const memory_place at = place_of(data);
  return at.host ? current_queue().ordinal : at.ordinal;
}

} // namespace

memory_pools::memory_pools(int ordinal)
    : ordinal_(ordinal), usual_(make_pool(ordinal)), lone_(make_pool(ordinal)), share_(least_kept) {
  check(runtime::never_wait_for_others(lone_));
  keep_as_told();
}

/// A pool counts what is in use among the bytes that it keeps.
void memory_pools::keep_as_told() {
  const std::int64_t now = in_use_, said = wanted, kept = said >= 0 ? said : share_.load();
  told_ = now;
  const std::uint64_t bytes = keepers_ > 0 ? ~std::uint64_t(0) : static_cast<std::uint64_t>(now + kept);
  for (const runtime::pool p : {usual_, lone_}) runtime::works(runtime::keep_released(p, bytes));
}

void memory_pools::has(std::int64_t total) {
  const std::int64_t share = std::max(least_kept, total / 8);
  if (share_.exchange(share) != share) keep_as_told();
}

void memory_pools::use(std::int64_t bytes) {
  const std::int64_t now = in_use_ += bytes;
  if (std::abs(now - told_) >= least_kept / 8) keep_as_told();
}

void memory_pools::keep_all(bool yes) {
  keepers_ += yes ? 1 : -1;
  keep_as_told();
}

std::int64_t memory_pools::sum_of(runtime::code (*bytes_of)(runtime::pool, std::uint64_t*)) const {
  std::uint64_t of_usual = 0, of_lone = 0;
  check(bytes_of(usual_, &of_usual));
  check(bytes_of(lone_, &of_lone));
  return static_cast<std::int64_t>(of_usual + of_lone);
}

std::int64_t memory_pools::idle() const { return sum_of(runtime::bytes_of) - sum_of(runtime::bytes_in_use); }

void memory_pools::give_back() const {
  for (const runtime::pool p : {usual_, lone_}) runtime::works(runtime::give_back(p));
}

bool memory_pools::takes(double bytes) {
  const std::lock_guard lock(room_);
  const std::int64_t now_used = sum_of(runtime::bytes_in_use);
  const auto now = std::chrono::steady_clock::now();
  const double taken = double(now_used - was_used_);
  if (was_free_ >= 0 && now - asked_at_ < std::chrono::seconds(1) && 4 * bytes <= was_free_ - taken) return true;
  was_free_ = double(available_gpu_memory(ordinal_));
  was_used_ = now_used;
  asked_at_ = now;
  return bytes <= was_free_;
}

memory_kept::memory_kept() : ordinal_(current_queue().ordinal) { pools_of(ordinal_).keep_all(true); }
memory_kept::~memory_kept() { pools_of(ordinal_).keep_all(false); }

} // namespace gpu

void* gpu_memory::allocate(std::size_t bytes) {
  gpu::queue& q = gpu::current_queue();
  gpu::memory_pools& pools = gpu::pools_of(q.ordinal);
  void* data = nullptr;
  const auto asked = static_cast<std::int64_t>(bytes);
  bytes = (bytes + gpu::padding - 1) / gpu::padding * gpu::padding;
  gpu::runtime::code code = gpu::runtime::take(&data, bytes, q.pool, q.stream);
  if (code == gpu::runtime::out_of_memory && !gpu::is_recorded(q.stream)) { // the other pool may keep what this needs
    gpu::runtime::last_failure();
    gpu::wait(q);
    pools.give_back();
    code = gpu::runtime::take(&data, bytes, q.pool, q.stream);
  }
  if (code == gpu::runtime::out_of_memory) {
    gpu::runtime::last_failure();
    throw error(fault::memory, std::to_string(bytes) + " bytes of GPU memory cannot be had (" +
                                   std::to_string(available_gpu_memory(q.ordinal)) +
                                   " are free on gpu:" + std::to_string(q.ordinal) + ")");
  }
  gpu::check(code);
  pools.use(asked);
  return data;
}

/// On our own stream, behind what this thread's stream and ours have enqueued; of one that is alone, there.
void gpu_memory::release(void* data, std::size_t bytes) noexcept {
  try {
    const gpu::selected_device there(gpu::owner_of(data));
    const gpu::queue& q = gpu::current_queue();
    const gpu::runtime::stream own = q.is_alone() ? q.stream : gpu::own_stream(q.ordinal);
    const bool recorded = gpu::is_recorded(q.stream);
    if (!recorded && q.id > 0) gpu::join(q.stream, own);
    gpu::check(gpu::runtime::release(data, recorded ? q.stream : own));
    gpu::pools_of(q.ordinal).use(-static_cast<std::int64_t>(bytes));
  } catch (const error&) {
  } // the device is gone, and its memory with it
}

void gpu_memory::copy(void* to, const void* from, std::size_t bytes) {
  if (!bytes) return;
  const gpu::selected_device there(gpu::owner_of(to));
  gpu::check(gpu::runtime::copy(to, from, bytes, gpu::runtime::way::inside, gpu::current_queue().stream));
}

void copy_bytes(host_memory, void* to, gpu_memory, const void* from, std::size_t bytes) {
  if (!bytes) return;
  const gpu::selected_device there(gpu::owner_of(from));
  gpu::queue& q = gpu::current_queue();
  *q.moved += static_cast<std::int64_t>(bytes);
  // The driver knows no address of pageable memory, and would move the bytes by one thread.
  if (bytes >= gpu::staged_from && gpu::runtime::is_pageable(to) && gpu::fetch_staged(to, from, bytes, q)) return;
  gpu::check(gpu::runtime::copy(to, from, bytes, gpu::runtime::way::to_host, q.stream));
  gpu::wait(q);
}

void copy_bytes(gpu_memory, void* to, host_memory, const void* from, std::size_t bytes) {
  if (!bytes) return;
  const gpu::selected_device there(gpu::owner_of(to));
  gpu::send_together(std::array{gpu::transfer{to, from, bytes}}, gpu::current_queue());
}

void keep_gpu_memory(std::int64_t bytes) {
  gpu::wanted = bytes;
  for (const int ordinal : gpu::open_ordinals()) {
    const gpu::selected_device there(ordinal);
    if (bytes < 0) available_gpu_memory(ordinal); // by which the pools know how much an eighth is
    gpu::pools_of(ordinal).keep_as_told();
    gpu::wait(gpu::current_queue()); // the driver takes what is beyond then
  }
}

std::int64_t available_gpu_memory(int ordinal) {
  int before = 0;
  std::size_t available = 0, total = 0;
  namespace api = gpu::runtime;
  if (!api::works(api::chosen_device(&before))) return 0;
  const bool known = api::works(api::choose_device(ordinal)) && api::works(api::memory_left(&available, &total));
  api::works(api::choose_device(before));
  if (!known) return 0;
  gpu::memory_pools* const pools = gpu::pools_if_open(ordinal);
  if (pools) pools->has(static_cast<std::int64_t>(total));
  return static_cast<std::int64_t>(available) + (pools ? pools->idle() : 0);
}

bool gpu_takes(int ordinal, double bytes) { return gpu::pools_of(ordinal).takes(bytes); }

} // namespace furrow
