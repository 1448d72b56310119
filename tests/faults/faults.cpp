// SPDX-License-Identifier: BSD-3-Clause
// Preloaded by tests/cli/faults_test.py (LD_PRELOAD): lets one call of one kind fail, as a system under pressure does.
//
//   FURROW_FAULT=KIND:N        the N-th call fails, counted from 1, over all threads, while `main` runs; 0: none does
//   FURROW_FAULT=KIND:N+       that one and all after it
//   FURROW_FAULT_COUNT=FILE    receives the number of calls when the process ends by itself
//
// Kinds: malloc (with operator new and its like), mmap, open, write, rename, fsync, ftruncate, thread.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" { // glibc's own, under names that it exports for such libraries
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

char kind[16];
long wanted = 0;
bool all_after = false;
std::atomic<long> calls{0};
std::atomic<bool> in_main{false}; // what a library does before, when it is loaded, is not the program's

__attribute__((constructor)) void begin() {
  const char* const text = std::getenv("FURROW_FAULT");
  const char* const colon = text ? std::strchr(text, ':') : nullptr;
  if (!colon || static_cast<std::size_t>(colon - text) >= sizeof kind) return;
  char* end = nullptr;
  wanted = std::strtol(colon + 1, &end, 10);
  all_after = *end == '+';
  std::memcpy(kind, text, static_cast<std::size_t>(colon - text));
}

__attribute__((destructor)) void finish() {
  const char* const name = std::getenv("FURROW_FAULT_COUNT");
  if (!name) return;
  char digits[32];
  const int length = std::snprintf(digits, sizeof digits, "%ld\n", calls.load());
  const long file = syscall(SYS_open, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file >= 0) syscall(SYS_write, file, digits, length);
}

/// Whether this call of a kind is to fail; errno says `why` then.
bool fails(const char* of, int why) {
  if (!in_main || std::strcmp(kind, of) != 0) return false;
  const long number = ++calls;
  if (wanted == 0 || (number != wanted && !(all_after && number > wanted))) return false;
  errno = why;
  return true;
}

template <class F> F* next(const char* name) { return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name)); }

using main_function = int (*)(int, char**, char**);
main_function program = nullptr;

int watched_main(int count, char** words, char** environment) {
  in_main = true;
  const int code = program(count, words, environment);
  in_main = false;
  return code;
}

} // namespace

extern "C" {

int __libc_start_main(main_function main, int count, char** words, void (*init)(), void (*fini)(), void (*rtld_fini)(),
                      void* stack_end) {
  program = main;
  return next<decltype(__libc_start_main)>("__libc_start_main")(watched_main, count, words, init, fini, rtld_fini,
                                                                stack_end);
}

void* malloc(std::size_t bytes) { return fails("malloc", ENOMEM) ? nullptr : __libc_malloc(bytes); }
void* calloc(std::size_t count, std::size_t bytes) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* old, std::size_t bytes) { return fails("malloc", ENOMEM) ? nullptr : __libc_realloc(old, bytes); }
void* memalign(std::size_t alignment, std::size_t bytes) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) {
  void* const block = memalign(alignment, bytes);
  if (block) *to = block;
  return block ? 0 : ENOMEM;
}

void* mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails("mmap", ENOMEM)) return MAP_FAILED;
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}

int open(const char* name, int flags, ...) {
  if (fails("open", EMFILE)) return -1;
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  return static_cast<int>(syscall(SYS_open, name, flags, mode));
}
int open64(const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const int mode = flags & O_CREAT ? va_arg(rest, int) : 0;
  va_end(rest);
  return open(name, flags, mode);
}
std::FILE* fopen(const char* name, const char* how) { // how libstdc++ opens its streams
  return fails("open", EMFILE) ? nullptr : next<std::FILE*(const char*, const char*)>("fopen")(name, how);
}
std::FILE* fopen64(const char* name, const char* how) { return fopen(name, how); }

ssize_t write(int file, const void* data, std::size_t bytes) {
  return fails("write", ENOSPC) ? -1 : syscall(SYS_write, file, data, bytes);
}
ssize_t pwrite(int file, const void* data, std::size_t bytes, off_t offset) {
  return fails("write", ENOSPC) ? -1 : syscall(SYS_pwrite64, file, data, bytes, offset);
}
ssize_t pwrite64(int file, const void* data, std::size_t bytes, off_t offset) {
  return pwrite(file, data, bytes, offset);
}

int rename(const char* from, const char* to) {
  return fails("rename", EIO) ? -1 : static_cast<int>(syscall(SYS_rename, from, to));
}
int fsync(int file) { return fails("fsync", EIO) ? -1 : static_cast<int>(syscall(SYS_fsync, file)); }
int ftruncate(int file, off_t bytes) {
  return fails("ftruncate", ENOSPC) ? -1 : static_cast<int>(syscall(SYS_ftruncate, file, bytes));
}
int ftruncate64(int file, off_t bytes) { return ftruncate(file, bytes); }

int pthread_create(pthread_t* thread, const pthread_attr_t* wishes, void* (*begin)(void*), void* argument) {
  if (fails("thread", EAGAIN)) return EAGAIN;
  return next<decltype(pthread_create)>("pthread_create")(thread, wishes, begin, argument);
}

} // extern "C"
