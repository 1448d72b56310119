// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"
#include "factors.hpp"
#include "ordering.hpp"

#include "preconditioners/stop.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <utility>

#if FURROW_HAS_SUPERLU
#include <slu_ddefs.h>

namespace furrow::lu {
namespace {

thread_local arena* current = nullptr;

static_assert(sizeof(arena::block) % alignof(std::max_align_t) == 0, "what follows a block's head is aligned");

/// The function that would have been called, had it no other of its name before it.
template <class F> F* own_of(const char* name) {
  F* f = nullptr;
  void* const at = dlsym(RTLD_NEXT, name);
  std::memcpy(&f, &at, sizeof f); // no cast leads from objects to functions
  return f;
}

} // namespace

arena::scope::scope(arena& a) : before_(current) { current = &a; }
arena::scope::~scope() { current = before_; }

arena::~arena() {
  while (first_) give_back(first_);
}

void* arena::take(std::size_t size) {
  const double whole = double(size) + sizeof(block);
  if (!budget_.takes(bytes_ + whole)) return nullptr;
  auto* const b = static_cast<block*>(std::malloc(sizeof(block) + size));
  if (!b) return nullptr;
  *b = {nullptr, first_, this, size};
  if (first_) first_->before = b;
  first_ = b;
  bytes_ += whole;
  return b + 1;
}

void arena::at_column() {
  if (!counted_[0]) return;
  for (float* const c : counted_) operations_ += double(std::exchange(*c, 0.0F));
  if (operations_ > most_operations_) refuse_operations(most_operations_);
}

void arena::at_round(int degree) {
  squares_ += std::exchange(nodes_, 0) * double(degree) * double(degree);
  if (squares_ > most_squares_) throw order_fills_in{};
}

void arena::give_back(block* b) {
  (b->before ? b->before->after : first_) = b->after;
  if (b->after) b->after->before = b->before;
  bytes_ -= double(b->size) + sizeof(block);
  std::free(b);
}

} // namespace furrow::lu

// The linker must see them, also in a library whose other names are hidden.
#pragma GCC visibility push(default)
extern "C" {

void* superlu_malloc(std::size_t size) {
  using furrow::lu::arena;
  if (furrow::lu::current) return furrow::lu::current->take(size);
  auto* const b = static_cast<arena::block*>(std::malloc(sizeof(arena::block) + size));
  if (!b) return nullptr;
  *b = {nullptr, nullptr, nullptr, size};
  return b + 1;
}

void superlu_free(void* at) {
  using furrow::lu::arena;
  if (!at) return;
  auto* const b = static_cast<arena::block*>(at) - 1;
  if (b->owner) b->owner->give_back(b);
  else std::free(b);
}

void superlu_abort_and_exit(char* why) {
  if (furrow::lu::current) throw furrow::lu::superlu_aborted{why};
  std::fputs(why, stderr);
  std::exit(-1);
}

/// SuperLU's own, called once a column of a factorisation, which can take hours: one that is told to stop ends here.
void resetrep_col(const int count, const int* segments, int* first_nonzero) {
  for (int k = 0; k < count; ++k) first_nonzero[segments[k]] = EMPTY;
  static thread_local furrow::index_t columns = 0;
  if (!furrow::lu::current) return;
  furrow::lu::current->at_column();
  furrow::stops_set_up::at_row(columns++);
}

/// The two steps of SuperLU's minimum degree, which can take minutes: asked, and then made by SuperLU's own. One
/// eliminates a node, the other one finds the degrees that a round of these has changed.
// NOLINTNEXTLINE(readability-identifier-naming): SuperLU's name
int slu_mmdelm_(void* node, void* xadj, void* adjncy, void* head, void* forw, void* backw, void* size, void* list,
                void* marker, void* most, void* tag) {
  static thread_local furrow::index_t nodes = 0;
  static const auto own =
      furrow::lu::own_of<int(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*)>(
          "slu_mmdelm_");
  if (furrow::lu::current) {
    furrow::lu::current->at_node();
    furrow::stops_set_up::at_row(nodes++);
  }
  return own(node, xadj, adjncy, head, forw, backw, size, list, marker, most, tag);
}
// NOLINTNEXTLINE(readability-identifier-naming): SuperLU's name
int slu_mmdupd_(void* first, void* n, void* xadj, void* adjncy, void* delta, void* least, void* head, void* forw,
                void* backw, void* size, void* list, void* marker, void* most, void* tag) {
  static const auto own = furrow::lu::own_of<int(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*,
                                                 void*, void*, void*, void*)>("slu_mmdupd_");
  if (furrow::lu::current) {
    furrow::lu::current->at_round(*static_cast<const int*>(least)); // where its degrees begin is 1
    furrow::stops_set_up::at_row(0);
  }
  return own(first, n, xadj, adjncy, delta, least, head, forw, backw, size, list, marker, most, tag);
}

} // extern "C"
#pragma GCC visibility pop

#endif
