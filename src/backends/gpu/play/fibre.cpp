// SPDX-License-Identifier: BSD-3-Clause
#include "fibre.hpp"

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#include <cstdint>

#if defined(__SANITIZE_ADDRESS__)
#define FURROW_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FURROW_ASAN 1
#endif
#endif
#if defined(FURROW_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
/// Keeps what a function must keep on the stack of who leaves, and goes on with the stack of who comes: 2 ns, where the
/// system's contexts take 300, most of it two calls that keep the signals' mask, which nobody changes here.
extern "C" void furrow_play_switch(void** leaves, void* comes);
extern "C" void furrow_play_enter();
asm(R"(
.pushsection .text
.hidden furrow_play_switch
.globl furrow_play_switch
.type furrow_play_switch, @function
furrow_play_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size furrow_play_switch, .-furrow_play_switch
.hidden furrow_play_enter
.globl furrow_play_enter
.type furrow_play_enter, @function
furrow_play_enter:
  movq %r12, %rdi
  callq *%r13
  ud2
.size furrow_play_enter, .-furrow_play_enter
.popsection
)");
#endif

namespace furrow::play {
namespace {

#if defined(__x86_64__)
/// Where a flow of control was left: its stack.
struct context {
  void* at = nullptr;
  void make(std::byte* stack, std::size_t bytes, void (*run)(void*), void* argument) {
    auto* top = reinterpret_cast<void**>(stack + bytes / 16 * 16);
    *--top = nullptr; // nobody called
    *--top = nullptr;
    *--top = reinterpret_cast<void*>(&furrow_play_enter);
    *--top = nullptr;                      // rbp
    *--top = nullptr;                      // rbx
    *--top = argument;                     // r12
    *--top = reinterpret_cast<void*>(run); // r13
    *--top = nullptr;                      // r14
    *--top = nullptr;                      // r15
    at = top;
  }
  void leave_for(const context& other) { furrow_play_switch(&at, other.at); }
};
#else
struct context {
  ucontext_t at{};
  void make(std::byte* stack, std::size_t bytes, void (*run)(void*), void* argument) {
    getcontext(&at);
    at.uc_stack.ss_sp = stack;
    at.uc_stack.ss_size = bytes;
    at.uc_link = nullptr;
    const auto split = [](const void* p) { return std::uint64_t(reinterpret_cast<std::uintptr_t>(p)); };
    const std::uint64_t f = split(reinterpret_cast<const void*>(run)), a = split(argument);
    makecontext(&at, reinterpret_cast<void (*)()>(&enter), 4, unsigned(f >> 32), unsigned(f), unsigned(a >> 32),
                unsigned(a));
  }
  void leave_for(context& other) { swapcontext(&at, &other.at); }

private:
  /// makecontext hands over nothing but numbers of the size int.
  static void enter(unsigned f1, unsigned f0, unsigned a1, unsigned a0) {
    const auto joined = [](unsigned high, unsigned low) {
      return static_cast<std::uintptr_t>(std::uint64_t(high) << 32 | low);
    };
    reinterpret_cast<void (*)(void*)>(joined(f1, f0))(reinterpret_cast<void*>(joined(a1, a0)));
  }
};
#endif

} // namespace

struct fibre::state {
  std::byte* stack;
  std::size_t bytes;
  context here{}, owner{};
  void (*run)(void*) = nullptr;
  void* argument = nullptr;
#if defined(FURROW_ASAN) // which has to know the stack that it is on
  const void* owner_stack = nullptr;
  std::size_t owner_bytes = 0;
  void *fake = nullptr, *owner_fake = nullptr;
  void arrive_here() { __sanitizer_finish_switch_fiber(fake, &owner_stack, &owner_bytes); }
  void depart_here() { __sanitizer_start_switch_fiber(&fake, owner_stack, owner_bytes); }
  void depart_owner() { __sanitizer_start_switch_fiber(&owner_fake, stack, bytes); }
  void arrive_owner() const { __sanitizer_finish_switch_fiber(owner_fake, nullptr, nullptr); }
#else
  void arrive_here() const {}
  void depart_here() const {}
  void depart_owner() const {}
  void arrive_owner() const {}
#endif

  static void enter(void* of) {
    auto* const self = static_cast<state*>(of);
    self->arrive_here();
    self->run(self->argument);
    self->leave();
  }
  void leave() {
    depart_here();
    here.leave_for(owner);
    arrive_here();
  }
};

fibre::fibre(std::byte* stack, std::size_t bytes) : state_(new state{stack, bytes}) {}
fibre::fibre(fibre&&) noexcept = default;
fibre::~fibre() = default;

void fibre::start(void (*run)(void*), void* argument) {
  state& s = *state_;
  s.run = run;
  s.argument = argument;
#if defined(FURROW_ASAN)
  s.fake = nullptr;
#endif
  s.here.make(s.stack, s.bytes, &state::enter, &s);
}

void fibre::resume() {
  state_->depart_owner();
  state_->owner.leave_for(state_->here);
  state_->arrive_owner();
}

void fibre::leave() { state_->leave(); }

} // namespace furrow::play
