// SPDX-License-Identifier: BSD-3-Clause
#include "queue.hpp"
#include "staging.hpp"

#include "backends/turn.hpp"
#include "core/environment.hpp"
#include "core/gpu_driver.hpp"
#include "core/gpu_room.hpp"
#include "core/memory_place.hpp"

#include <furrow/device.hpp>
#include <furrow/function_operator.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace furrow {

/// A queue on a stream of the caller.
struct execution_scope::impl {
  gpu::lent_queue lent;
};

/// The queue as it is, without graphs.
struct driven_by_host::impl {
  gpu::lent_queue lent;
};

namespace gpu {
namespace {

thread_local int selected = 0;
thread_local queue* mine = nullptr;           ///< of `selected`, as every call would find it; null: not looked for
thread_local lent_queue* innermost = nullptr; ///< the end of a list through `outer`

bool loops_in_graphs() {
  int driver = 0;
  const std::string_view wish = environment("FURROW_GRAPHS");
  if (wish == "off") return false;
  if (!wish.empty()) refuse_environment("FURROW_GRAPHS", "choose off, or leave it unset");
  return runtime::driver_version(&driver) == runtime::success && driver >= runtime::with_while_nodes;
}

/// Released bytes that stay with the process: small vectors come and go without the driver, which takes some 3 us for a
/// megabyte, large blocks go back.
constexpr std::uint64_t usual_bytes = std::uint64_t(256) << 20;

/// A device that this process uses.
struct opened {
  queue own;
  std::recursive_mutex busy;     ///< by the thread whose turn it is
  int depth = 0;                 ///< of its nested turns
  long long last = 0;            ///< id of the queue that had the turn before
  std::mutex recorder;           ///< of whoever records a graph
  runtime::event done = nullptr; ///< the end of what that one enqueued, where it is not our own
  std::atomic<std::int64_t> moved = 0;
  runtime::pool lone_pool = nullptr;
  std::atomic<std::int64_t> in_use = 0; ///< bytes of arrays
  std::atomic<std::int64_t> told = 0;   ///< the same, when the pools were last told what to keep
  std::atomic<int> keepers = 0;         ///< `memory_kept` that live

  /// A pool counts what is in use among the bytes that it keeps.
  void tell_pools() {
    const std::int64_t now = in_use;
    told = now;
    const std::uint64_t bytes = keepers > 0 ? ~std::uint64_t(0) : static_cast<std::uint64_t>(now) + usual_bytes;
    for (const runtime::pool p : {own.pool, lone_pool}) (void)runtime::keep_released(p, bytes);
  }
  void use(std::int64_t bytes) {
    const std::int64_t now = in_use += bytes;
    if (std::abs(now - told) >= std::int64_t(usual_bytes) / 8) tell_pools();
  }
  std::mutex room; ///< of what follows
  std::chrono::steady_clock::time_point asked_at{};
  double was_free = -1; ///< bytes, as the driver said then; below 0: it was not asked
  std::uint64_t was_in_pool = 0;
};

/// A pool of our own: other libraries rely on what the default one keeps.
runtime::pool make_pool(int ordinal) {
  runtime::pool pool = nullptr;
  check(runtime::make_pool(ordinal, &pool));
  check(runtime::keep_released(pool, usual_bytes));
  return pool;
}

std::unique_ptr<opened> open(int ordinal) {
  auto d = std::make_unique<opened>();
  queue* const q = &d->own;
  check(runtime::choose_device(ordinal));
  q->ordinal = ordinal;
  q->moved = &d->moved;
  check(runtime::ask(runtime::property::multiprocessors, ordinal, &q->multiprocessors));
  check(runtime::ask(runtime::property::cache_bytes, ordinal, &q->cache_bytes));
  q->graphs = loops_in_graphs();
  int capability = 0;
  check(runtime::ask(runtime::property::major_capability, ordinal, &capability));
  q->early_launch = capability >= 9;
  check(runtime::make_stream(&q->stream));
  check(runtime::make_stream(&q->recorder));
  check(runtime::make_event(&d->done));
  check(runtime::take_for_good(&q->partial, sizeof(double) * static_cast<std::size_t>(q->max_blocks()) * max_sums));
  check(runtime::take_for_good(&q->arrived, sizeof(unsigned)));
  check(runtime::fill(q->arrived, 0, sizeof(unsigned), q->stream));
  check(runtime::wait(q->stream));
  q->pool = make_pool(ordinal);
  d->lone_pool = make_pool(ordinal);
  check(runtime::never_wait_for_others(d->lone_pool));
  notice_gpu_driver();
  return d;
}

/// A device, which is opened once and stays: arrays may end after everything else.
opened& device_of(int ordinal) {
  static auto& guard = *new std::mutex;
  static auto& devices = *new std::map<int, std::unique_ptr<opened>>;
  const std::lock_guard lock(guard);
  auto& d = devices[ordinal];
  if (!d) d = open(ordinal);
  return *d;
}

queue& queue_of(int ordinal) {
  for (lent_queue* l = innermost; l; l = l->outer)
    if (l->q.ordinal == ordinal) return l->q;
  return device_of(ordinal).own;
}

/// Makes the runtime's device the thread's: another library may have chosen another one meanwhile. To ask is quicker
/// than to choose.
void choose_device(int ordinal) {
  int now = -1;
  if (runtime::chosen_device(&now) != runtime::success || now != ordinal) check(runtime::choose_device(ordinal));
}

/// The queue on our own stream, with the runtime's device chosen.
queue& own_queue(int ordinal) {
  choose_device(ordinal);
  return device_of(ordinal).own;
}

/// Whether a graph of the caller's records what is enqueued: then nothing outside of it is waited for.
bool is_recorded(runtime::stream stream) {
  bool yes = false;
  check(runtime::is_recorded(stream, &yes));
  return yes;
}

/// What is enqueued on `to` from now on follows what is on `from`.
void join(runtime::stream from, runtime::stream to) {
  runtime::event by = nullptr;
  check(runtime::make_event(&by));
  const runtime::code code = runtime::record(by, from), waits = runtime::follow(to, by);
  runtime::end(by);
  check(code);
  check(waits);
}

void push(lent_queue& l) {
  l.outer = innermost;
  innermost = &l;
  mine = nullptr;
}
void pop(const lent_queue& l) {
  innermost = l.outer;
  mine = nullptr;
}

void check_stream(const execution& e) {
  int ordinal = -1;
  check(runtime::device_of(static_cast<runtime::stream>(e.stream), &ordinal));
  furrow::check(ordinal < 0 || ordinal == e.where.ordinal, fault::usage,
                "the stream is on another GPU than the execution");
}

} // namespace

void check(runtime::code code, std::source_location at) {
  if (code == runtime::success) return;
  runtime::last_failure();
  const fault kind = code == runtime::out_of_memory ? fault::memory : fault::device;
  throw error(kind, std::string(at.file_name()) + ":" + std::to_string(at.line()) +
                        ": the GPU says: " + runtime::text_of(code));
}

void check_launch(std::source_location at) { check(runtime::last_failure(), at); }

void fill_bytes(void* data, int byte, std::size_t bytes, const queue& q, std::source_location at) {
  check(runtime::fill(data, byte, bytes, q.stream), at);
}

queue& current_queue() {
  if (!mine || mine->ordinal != selected) mine = &queue_of(selected);
  choose_device(selected);
  return *mine;
}

long long next_queue_id() {
  static std::atomic<long long> ids = 0;
  return ++ids;
}

used_queue::used_queue(const queue& q) : lent_{q} {
  const selected_device here(q.ordinal);
  if (!q.is_alone()) join(own_queue(q.ordinal).stream, q.stream);
  push(lent_);
}
used_queue::~used_queue() {
  pop(lent_);
  if (lent_.q.is_alone()) return;
  try {
    const selected_device here(lent_.q.ordinal);
    join(lent_.q.stream, own_queue(lent_.q.ordinal).stream);
  } catch (const error&) {
  } // the device is gone
}

recording::recording() : lent_{current_queue()}, alone_(device_of(lent_.q.ordinal).recorder) {
  lent_.q.stream = lent_.q.recorder;
  push(lent_);
}
recording::~recording() { pop(lent_); }

selected_device::selected_device(int ordinal) : before_(selected) { selected = ordinal; }
selected_device::~selected_device() { selected = before_; }

void wait(const queue& q) { check(runtime::wait(q.stream)); }

memory_kept::memory_kept() : ordinal_(current_queue().ordinal) {
  ++device_of(ordinal_).keepers;
  device_of(ordinal_).tell_pools();
}
memory_kept::~memory_kept() {
  --device_of(ordinal_).keepers;
  device_of(ordinal_).tell_pools();
}

runtime::pool pool_of_lone_queues(int ordinal) { return device_of(ordinal).lone_pool; }

} // namespace gpu

turn::turn(device where) : where_(where) {
  if (!where.is_gpu()) return;
  const int selected_before = gpu::selected;
  if (gpu::runtime::chosen_device(&current_before_) != gpu::runtime::success) current_before_ = -1;
  gpu::opened& d = gpu::device_of(where.ordinal);
  std::unique_lock lock(d.busy);
  select_device(where);
  const gpu::queue& q = gpu::current_queue();
  if (d.depth == 0 && q.id != d.last && !gpu::is_recorded(q.stream)) {
    if (d.last == 0) gpu::check(gpu::runtime::record(d.done, d.own.stream));
    gpu::check(gpu::runtime::follow(q.stream, d.done));
    d.last = q.id;
  }
  selected_before_ = selected_before;
  ++d.depth;
  lock.release();
}

turn::~turn() {
  if (!where_.is_gpu()) return;
  gpu::opened& d = gpu::device_of(where_.ordinal);
  const bool ends = --d.depth == 0;
  try {
    const gpu::selected_device here(where_.ordinal);
    const gpu::queue& q = gpu::current_queue();
    if (ends && q.id != 0 && !gpu::is_recorded(q.stream)) gpu::check(gpu::runtime::record(d.done, q.stream));
  } catch (const error&) {
  } // the device is gone
  d.busy.unlock();
  gpu::selected = selected_before_;
  int now = -1;
  if (current_before_ >= 0 && gpu::runtime::chosen_device(&now) == gpu::runtime::success && now != current_before_)
    gpu::runtime::choose_device(current_before_);
}

execution_scope::execution_scope(const execution& e) {
  check(e.where.is_gpu() || !e.stream, fault::usage, "the CPU has no streams: give a GPU, or no stream");
  if (!e.where.is_gpu()) return;
  const gpu::selected_device here(e.where.ordinal);
  const gpu::runtime::stream own = gpu::own_queue(e.where.ordinal).stream;
  gpu::check_stream(e);
  auto made = std::make_unique<impl>();
  gpu::queue& q = made->lent.q;
  q = gpu::own_queue(e.where.ordinal);
  q.stream = static_cast<gpu::runtime::stream>(e.stream);
  q.id = gpu::next_queue_id();
  if (gpu::runtime::is_legacy(q.stream)) q.early_launch = false; // it waits for the other streams in between
  if (!gpu::is_recorded(q.stream)) gpu::join(own, q.stream);
  gpu::push(made->lent);
  impl_ = std::move(made);
}

execution_scope::~execution_scope() {
  if (!impl_) return;
  const gpu::queue& q = impl_->lent.q;
  gpu::pop(impl_->lent);
  try {
    const gpu::selected_device here(q.ordinal);
    const gpu::runtime::stream own = gpu::own_queue(q.ordinal).stream;
    if (!gpu::is_recorded(q.stream)) gpu::join(q.stream, own);
  } catch (const error&) {
  } // the device is gone
}

driven_by_host::driven_by_host(device where) {
  if (!where.is_gpu()) return;
  auto made = std::make_unique<impl>();
  made->lent.q = gpu::queue_of(where.ordinal);
  made->lent.q.graphs = false;
  gpu::push(made->lent);
  impl_ = std::move(made);
}
driven_by_host::~driven_by_host() {
  if (impl_) gpu::pop(impl_->lent);
}

void* gpu_memory::allocate(std::size_t bytes) {
  gpu::queue& q = gpu::current_queue();
  void* data = nullptr;
  const auto asked = static_cast<std::int64_t>(bytes);
  bytes = (bytes + gpu::padding - 1) / gpu::padding * gpu::padding;
  const gpu::runtime::code code = gpu::runtime::take(&data, bytes, q.pool, q.stream);
  if (code == gpu::runtime::out_of_memory) {
    gpu::runtime::last_failure();
    throw error(fault::memory, std::to_string(bytes) + " bytes of GPU memory cannot be had (" +
                                   std::to_string(available_gpu_memory(q.ordinal)) +
                                   " are free on gpu:" + std::to_string(q.ordinal) + ")");
  }
  gpu::check(code);
  gpu::device_of(q.ordinal).use(asked);
  return data;
}

namespace gpu {
namespace {

/// The device whose memory it is.
int owner_of(const void* data) {
  const memory_place at = place_of(data);
  return at.host ? selected : at.ordinal;
}

} // namespace
} // namespace gpu

/// On our own stream, behind what this thread's stream and ours have enqueued; of one that is alone, there.
void gpu_memory::release(void* data, std::size_t bytes) noexcept {
  try {
    const gpu::selected_device there(gpu::owner_of(data));
    const gpu::queue& q = gpu::current_queue();
    const gpu::runtime::stream own = q.is_alone() ? q.stream : gpu::own_queue(q.ordinal).stream;
    const bool recorded = gpu::is_recorded(q.stream);
    if (!recorded && q.id > 0) gpu::join(q.stream, own);
    gpu::runtime::release(data, recorded ? q.stream : own);
    gpu::device_of(q.ordinal).use(-static_cast<std::int64_t>(bytes));
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

gpu_status inspect_gpus() {
  gpu_status s;
  s.built = true;
  namespace api = gpu::runtime;
  int runtime = 0, driver = 0, count = 0;
  if (api::runtime_version(&runtime) == api::success) s.runtime_version = cuda_version_text(runtime);
  if (api::driver_version(&driver) == api::success && driver > 0) s.driver_version = cuda_version_text(driver);
  const api::code code = api::count_devices(&count);
  if (code != api::success || count == 0) {
    api::last_failure();
    s.problem = driver == 0               ? "no NVIDIA driver is loaded"
                : code == api::old_driver ? old_driver_text(driver, runtime)
                : code != api::success    ? api::text_of(code)
                                          : "there is none";
    return s;
  }
  for (int i = 0; i < count; ++i) {
    api::description d;
    if (api::describe(i, &d) != api::success) continue;
    gpu_info g;
    g.name = d.name;
    g.ordinal = i;
    g.major = d.major;
    g.minor = d.minor;
    g.multiprocessors = d.multiprocessors;
    g.lanes = d.lanes;
    g.memory_bytes = static_cast<std::int64_t>(d.memory_bytes);
    g.free_bytes = available_gpu_memory(i);
    g.l2_bytes = d.cache_bytes;
    g.graphs = gpu::loops_in_graphs();
    s.gpus.push_back(g);
  }
  return s;
}

void select_device(device d) {
  if (!d.is_gpu()) return;
  gpu::selected = d.ordinal;
  gpu::current_queue();
}

void* current_stream(device d) {
  if (!d.is_gpu()) return nullptr;
  const gpu::selected_device there(d.ordinal);
  return gpu::current_queue().stream;
}

std::int64_t copied_bytes(device d) {
  if (!d.is_gpu()) return 0;
  const gpu::selected_device there(d.ordinal);
  return *gpu::current_queue().moved;
}

std::int64_t available_gpu_memory(int ordinal) {
  int before = 0;
  std::size_t available = 0, total = 0;
  namespace api = gpu::runtime;
  if (api::chosen_device(&before) != api::success) return 0;
  const bool known =
      api::choose_device(ordinal) == api::success && api::memory_left(&available, &total) == api::success;
  api::choose_device(before);
  return known ? static_cast<std::int64_t>(available) : 0;
}

bool gpu_takes(int ordinal, double bytes) {
  gpu::opened& d = gpu::device_of(ordinal);
  const std::lock_guard lock(d.room);
  std::uint64_t in_pool = 0;
  gpu::check(gpu::runtime::bytes_of(d.own.pool, &in_pool));
  const auto now = std::chrono::steady_clock::now();
  const double taken = double(in_pool) - double(d.was_in_pool);
  if (d.was_free >= 0 && now - d.asked_at < std::chrono::seconds(1) && 4 * bytes <= d.was_free - taken) return true;
  d.was_free = double(available_gpu_memory(ordinal));
  d.was_in_pool = in_pool;
  d.asked_at = now;
  return bytes <= d.was_free;
}

} // namespace furrow
