// SPDX-License-Identifier: BSD-3-Clause
#include "arena.hpp"
#include "factors.hpp"
#include "ordering.hpp"

#include "preconditioners/stop.hpp"

#include <cmath>
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

/// Of a node that is eliminated: its list goes on where a negative entry says, and ends at zero or where its place
/// does.
template <class F> void for_each_neighbour(const arena::quotient_graph& g, int node, const F& f) {
  for (int k = g.begins[node], end = g.begins[node + 1]; k < end && g.neighbours[k] != 0;) {
    const int other = g.neighbours[k++];
    if (other > 0) f(other);
    else k = g.begins[-other], end = g.begins[-other + 1];
  }
}

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

void arena::bound_order(const order_bounds& most, index_t n) {
  most_ = most, squares_ = steps_ = nodes_ = 0, rounds_ = lists_ = 0;
  if (std::isfinite(most.steps)) marks_.assign(std::size_t(n) + 1, {});
}

void arena::at_round(int degree) {
  squares_ += std::exchange(nodes_, 0) * double(degree) * double(degree);
  if (squares_ > most_.squares) throw order_fills_in{};
}

/// A node that the round has left with another degree looks through the lists of all of its neighbours that are
/// eliminated. One that has two of these alone looks through the other one, and what it finds there of the first list
/// becomes one with it, or waits for it. The lengths of lists are kept: to add them up takes a fraction of that.
void arena::at_update(const quotient_graph& g) {
  if (marks_.empty()) return;
  const auto mark = [&](int node) -> mark_of_node& { return marks_[std::size_t(node)]; };
  for (int e = g.round; e > 0; e = g.next[e]) {
    mark(e).length = 0;
    for_each_neighbour(g, e, [&](int) { ++mark(e).length; });
  }
  ++rounds_;
  for (int e = g.round; e > 0; e = g.next[e]) {
    ++lists_;
    const auto is_left = [&](int node) { return mark(node).list == lists_ && mark(node).round != rounds_; };
    for_each_neighbour(g, e, [&](int node) {
      if (g.size[node] > 0 && g.backward[node] == 0) mark(node).list = lists_;
    });
    for_each_neighbour(g, e, [&](int node) {
      if (!is_left(node) || g.forward[node] != 2) return;
      mark(node).round = rounds_;
      const int* const two = g.neighbours + g.begins[node];
      const int other = two[0] == e ? two[1] : two[0];
      if (g.forward[other] >= 0) return;
      steps_ += mark(other).length;
      for_each_neighbour(g, other, [&](int both) {
        if (mark(both).list == lists_) mark(both).round = rounds_;
      });
    });
    for_each_neighbour(g, e, [&](int node) {
      if (!is_left(node)) return;
      mark(node).round = rounds_;
      for (int k = g.begins[node]; k < g.begins[node + 1] && g.neighbours[k] != 0; ++k) {
        const int other = g.neighbours[k];
        steps_ += g.forward[other] < 0 ? mark(other).length : 1;
      }
    });
    if (steps_ > most_.steps) throw order_fills_in{.by_steps = true};
  }
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
    const auto from_1 = [](const void* at) { return static_cast<const int*>(at) - 1; };
    furrow::lu::current->at_round(*static_cast<const int*>(least)); // where its degrees begin is 1
    furrow::lu::current->at_update({*static_cast<const int*>(first), from_1(xadj), from_1(adjncy), from_1(list),
                                    from_1(forw), from_1(backw), from_1(size)});
    furrow::stops_set_up::at_row(0);
  }
  return own(first, n, xadj, adjncy, delta, least, head, forw, backw, size, list, marker, most, tag);
}

} // extern "C"
#pragma GCC visibility pop

#endif
