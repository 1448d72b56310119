// SPDX-License-Identifier: BSD-3-Clause
// FURROW_SLIM: a file that is carried to other machines asks the C library for nothing newer than 2.34, and libstdc++
// for nothing newer than that of GCC 11, which RHEL 9 has. Two functions got a new version since; their older one,
// which every later library still has, does the same for us. The linker's --wrap leads every call here.
//   hypot, 2.35: the older one sets errno by another way; the number is that of the same code.
//   std::condition_variable::wait, GCC 12: the older one ends the process where a thread is cancelled in it, and ours
//   are not.

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
double furrow_older_hypot(double, double);
void furrow_older_wait(void*, void*);
__asm__(".symver furrow_older_hypot,hypot@GLIBC_2.2.5");
__asm__(".symver furrow_older_wait,_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE@GLIBCXX_3.4.11");

__attribute__((visibility("hidden"))) double __wrap_hypot(double x, double y) { return furrow_older_hypot(x, y); }

__attribute__((visibility("hidden"))) void
__wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(void* self, void* lock) {
  furrow_older_wait(self, lock);
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
