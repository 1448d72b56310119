// SPDX-License-Identifier: BSD-3-Clause
// The module libfurrow_mpi.so: MPI's functions behind a table. The only file that includes mpi.h.
#include "module.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#define OMPI_SKIP_MPICXX 1 // and the same of MPICH: C++ bindings that nobody wants
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

struct furrow_mpi_group {
  MPI_Comm comm = MPI_COMM_NULL;
  bool began = false; ///< MPI, by us
  int rank = 0, size = 1;
  std::vector<MPI_Request> running{};
};

namespace {

/// MPI counts in `int`.
constexpr long long most_at_once = 1LL << 30;

std::string& said() {
  static auto& text = *new std::string;
  return text;
}

const char* sentence_of(int code) {
  if (code == MPI_SUCCESS) return nullptr;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  said() = "MPI failed: " + std::string(text, static_cast<std::size_t>(length));
  return said().c_str();
}

const char* open_group(const void* comm, furrow_mpi_group** group) {
  auto made = std::make_unique<furrow_mpi_group>();
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (ended) return (said() = "MPI has been ended: its ranks cannot be opened again").c_str();
  if (!begun) {
    int granted = 0;
    if (const char* what = sentence_of(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &granted))) return what;
    made->began = true;
  }
  const MPI_Comm all = comm ? *static_cast<const MPI_Comm*>(comm) : MPI_COMM_WORLD;
  if (const char* what = sentence_of(MPI_Comm_dup(all, &made->comm))) return what;
  MPI_Comm_set_errhandler(made->comm, MPI_ERRORS_RETURN);
  MPI_Comm_rank(made->comm, &made->rank);
  MPI_Comm_size(made->comm, &made->size);
  *group = made.release();
  return nullptr;
}

void close_group(furrow_mpi_group* group) {
  MPI_Comm_free(&group->comm);
  if (group->began) MPI_Finalize();
  delete group;
}

const char* gather_all(furrow_mpi_group* group, const void* mine, long long bytes, void* all) {
  if (bytes > std::numeric_limits<int>::max())
    return (said() = "a rank brings more than 2 GiB to a meeting of all, which MPI cannot count").c_str();
  const auto count = static_cast<int>(bytes);
  return sentence_of(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, group->comm));
}

/// f(data, count) for pieces that MPI can count; one also where there is nothing.
template <class F> const char* in_pieces(const furrow_mpi_piece& p, F f) {
  auto* data = static_cast<char*>(p.data);
  long long left = p.bytes;
  do {
    const long long count = std::min(left, most_at_once);
    if (const char* what = sentence_of(f(data, static_cast<int>(count)))) return what;
    data += count, left -= count;
  } while (left > 0);
  return nullptr;
}

const char* start(furrow_mpi_group* group, const furrow_mpi_piece* sends, int send_count,
                  const furrow_mpi_piece* receives, int receive_count) {
  const auto next = [&] { return &group->running.emplace_back(MPI_REQUEST_NULL); };
  for (const auto* p = receives; p != receives + receive_count; ++p)
    if (const char* what = in_pieces(*p, [&](void* data, int count) {
          return MPI_Irecv(data, count, MPI_BYTE, p->rank, 0, group->comm, next());
        }))
      return what;
  for (const auto* p = sends; p != sends + send_count; ++p)
    if (const char* what = in_pieces(*p, [&](const void* data, int count) {
          return MPI_Isend(data, count, MPI_BYTE, p->rank, 0, group->comm, next());
        }))
      return what;
  return nullptr;
}

/// Until all of it has happened. What a step of a solver waits for comes within 5 ms; who waits longer, as for a first
/// rank that solves alone, naps between looks and leaves its processor to others.
int wait_for(std::vector<MPI_Request>& running) {
  using clock = std::chrono::steady_clock;
  constexpr int looks_a_time = 256;
  constexpr std::chrono::milliseconds patience{5};
  constexpr std::chrono::microseconds nap{50};
  const auto count = static_cast<int>(running.size());
  const auto began = clock::now();
  bool patient = true;
  for (int looks = 1, done = 0;; ++looks) {
    if (const int code = MPI_Testall(count, running.data(), &done, MPI_STATUSES_IGNORE); done || code != MPI_SUCCESS)
      return code;
    if (patient && looks % looks_a_time == 0) patient = clock::now() - began < patience;
    if (!patient) std::this_thread::sleep_for(nap);
  }
}

const char* finish(furrow_mpi_group* group) {
  const int code = wait_for(group->running);
  group->running.clear();
  return sentence_of(code);
}

void abort_all(furrow_mpi_group* group, int exit_code) {
  MPI_Abort(group->comm, exit_code);
  std::abort();
}

constexpr furrow_mpi_functions functions{
    .version = furrow_mpi_version,
    .open = open_group,
    .close = close_group,
    .rank = [](const furrow_mpi_group* group) { return group->rank; },
    .size = [](const furrow_mpi_group* group) { return group->size; },
    .gather_all = gather_all,
    .start = start,
    .finish = finish,
    .abort = abort_all,
};

} // namespace

extern "C" __attribute__((visibility("default"))) const furrow_mpi_functions* furrow_mpi_module(int version) {
  return version == furrow_mpi_version ? &functions : nullptr;
}
