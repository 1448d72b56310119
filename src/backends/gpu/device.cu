// SPDX-License-Identifier: BSD-3-Clause
#include "pools.hpp"
#include "queue.hpp"

#include "backends/turn.hpp"
#include "core/environment.hpp"
#include "core/gpu_driver.hpp"
#include "core/memory_place.hpp"

#include <furrow/device.hpp>
#include <furrow/function_operator.hpp>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
  if (environment("FURROW_GRAPHS") == "off") return false;
  return runtime::works(runtime::driver_version(&driver)) && driver >= runtime::with_while_nodes;
}

/// A device that this process uses.
struct opened {
  queue own;
  std::recursive_mutex busy;     ///< by the thread whose turn it is
  int depth = 0;                 ///< of its nested turns
  long long last = 0;            ///< id of the queue that had the turn before
  std::mutex recorder;           ///< of whoever records a graph
  runtime::event done = nullptr; ///< the end of what that one enqueued, where it is not our own
  std::atomic<std::int64_t> moved = 0;
  std::unique_ptr<memory_pools> pools;
};

/// In the words of `parse_device`, which a caller that names the device by its number has not asked.
void choose_first(int ordinal) {
  const runtime::code code = runtime::choose_device(ordinal);
  if (code == runtime::success) return;
  runtime::last_failure();
  int count = 0;
  if (!runtime::works(runtime::count_devices(&count)) || count == 0) parse_device("gpu");
  if (ordinal < 0 || ordinal >= count)
    throw error(fault::device, "there is no gpu:" + std::to_string(ordinal) +
                                   ": this machine has gpu:0 to gpu:" + std::to_string(count - 1));
  check(code);
}

std::unique_ptr<opened> open(int ordinal) {
  auto d = std::make_unique<opened>();
  queue* const q = &d->own;
  choose_first(ordinal);
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
  d->pools = std::make_unique<memory_pools>(ordinal);
  q->pool = d->pools->usual();
  notice_gpu_driver();
  return d;
}

/// All that were opened, for good: arrays may end after everything else.
struct open_devices {
  std::mutex guard;
  std::map<int, std::unique_ptr<opened>> all;
};
open_devices& devices() {
  static auto& those = *new open_devices;
  return those;
}

opened& device_of(int ordinal) {
  const std::lock_guard lock(devices().guard);
  auto& d = devices().all[ordinal];
  if (d) return *d;
  try {
    d = open(ordinal);
  } catch (const error& e) {
    if (e.kind != fault::memory) throw;
    throw error(fault::memory, "gpu:" + std::to_string(ordinal) +
                                   " has no room for this process: others hold its memory (nvidia-smi names them); "
                                   "free some of it, or compute on the CPU");
  }
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
  if (!runtime::works(runtime::chosen_device(&now)) || now != ordinal) check(runtime::choose_device(ordinal));
}

/// The queue on our own stream, with the runtime's device chosen: after it was opened, which says why there is none.
queue& own_queue(int ordinal) {
  queue& own = device_of(ordinal).own;
  choose_device(ordinal);
  return own;
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
  const auto stream = static_cast<runtime::stream>(e.stream);
  if (is_recorded(stream)) return; // to ask for its device would end the recording
  int ordinal = -1;
  check(runtime::device_of(stream, &ordinal));
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

runtime::stream own_stream(int ordinal) { return own_queue(ordinal).stream; }

bool is_recorded(runtime::stream stream) {
  bool yes = false;
  check(runtime::is_recorded(stream, &yes));
  return yes;
}

void join(runtime::stream from, runtime::stream to) {
  runtime::event by = nullptr;
  check(runtime::make_event(&by));
  const runtime::code code = runtime::record(by, from), waits = runtime::follow(to, by);
  runtime::end(by);
  check(code);
  check(waits);
}

memory_pools& pools_of(int ordinal) { return *device_of(ordinal).pools; }
memory_pools* pools_if_open(int ordinal) {
  const std::lock_guard lock(devices().guard);
  const auto found = devices().all.find(ordinal);
  return found == devices().all.end() || !found->second ? nullptr : found->second->pools.get();
}
std::vector<int> open_ordinals() {
  const std::lock_guard lock(devices().guard);
  std::vector<int> open;
  for (const auto& [ordinal, d] : devices().all)
    if (d) open.push_back(ordinal);
  return open;
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

} // namespace gpu

turn::turn(device where) : where_(where) {
  if (!where.is_gpu()) return;
  const int selected_before = gpu::selected;
  if (!gpu::runtime::works(gpu::runtime::chosen_device(&current_before_))) current_before_ = -1;
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
  if (current_before_ >= 0 && gpu::runtime::works(gpu::runtime::chosen_device(&now)) && now != current_before_)
    gpu::runtime::works(gpu::runtime::choose_device(current_before_));
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

gpu_status inspect_gpus() {
  gpu_status s;
  s.built = true;
  namespace api = gpu::runtime;
  int runtime = 0, driver = 0, count = 0;
  if (api::works(api::runtime_version(&runtime))) s.runtime_version = cuda_version_text(runtime);
  if (api::works(api::driver_version(&driver)) && driver > 0) s.driver_version = cuda_version_text(driver);
  const api::code code = api::count_devices(&count);
  if (code != api::success || count == 0) {
    api::last_failure();
    s.problem = driver == 0               ? "no NVIDIA driver is loaded"
                : code == api::old_driver ? old_driver_text(driver, runtime)
                : code != api::success    ? api::text_of(code)
                                          : "there is none";
    if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) // NOLINT(concurrency-mt-unsafe)
      s.problem += "; CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "', which hides all that it does not name";
    return s;
  }
  for (int i = 0; i < count; ++i) {
    api::description d;
    if (!api::works(api::describe(i, &d))) continue;
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

std::string gpu_name(int ordinal) {
  gpu::runtime::description d;
  return gpu::runtime::works(gpu::runtime::describe(ordinal, &d)) ? d.name : std::string();
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

} // namespace furrow
