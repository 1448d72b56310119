// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "guarded.hpp"
#include "matrices.hpp"
#include "random.hpp"
#include "said_by.hpp"
#include "solve_check.hpp"

#include <furrow/spaces.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

/// What the public spaces and their matrices promise, in either memory.
namespace furrow::kit {

template <class V, class Memory> host_array<V> at_home(const basic_array<V, Memory>& a) { return host_array<V>(a); }

/// The rows of `a`, the columns of each in descending order and each entry in two halves.
template <class V> struct untidy_rows {
  std::vector<std::int32_t> row_ptr{0}, col;
  std::vector<V> val;
  explicit untidy_rows(const coo<V>& a) {
    index_t k = a.nnz();
    std::vector<std::vector<index_t>> rows(static_cast<std::size_t>(a.shape.rows));
    while (k-- > 0) rows[static_cast<std::size_t>(a.row[k])].push_back(k);
    for (const auto& row : rows) {
      for (const index_t e : row)
        for (int half = 0; half < 2; ++half) col.push_back(a.col[e]), val.push_back(a.val[e] / 2);
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
    }
  }
};

template <class T, class Memory> host_array<T> copied_from(cview<T> v) {
  host_array<T> home(v.size);
  copy_bytes(host_memory{}, home.data(), Memory{}, v.data, home.byte_count());
  return home;
}

/// Built from arrays in any order, sent, copied back, multiplied.
template <class V, class Memory> void check_csr(const coo<double>& wide) {
  const auto a = as_precision<V>(wide);
  const untidy_rows<V> rows(a);
  const basic_csr<V, Memory> there(a.shape, rows.row_ptr, rows.col, rows.val);
  EXPECT_EQ(there.shape(), a.shape);
  EXPECT_EQ(there.nnz(), a.nnz());
  EXPECT_EQ(there.where().is_gpu(), (std::is_same_v<Memory, gpu_memory>));
  const auto col = copied_from<std::int32_t, Memory>(there.col());
  EXPECT_TRUE(same_bits(as_cview(col), as_cview(a.col)));
  const host_csr<V> back(there);
  EXPECT_FALSE(back.where().is_gpu());
  EXPECT_TRUE(same_bits(back.col(), as_cview(a.col)));
  EXPECT_TRUE(same_bits(back.val(), as_cview(a.val)));
  ASSERT_EQ(back.row_ptr().size, a.shape.rows + 1);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t r = a.row[k];
    ASSERT_TRUE(back.row_ptr()[r] <= k && k < back.row_ptr()[r + 1]) << k;
  }
  const auto x = random_vector<V>(a.shape.cols, 3);
  basic_array<V, Memory> y(a.shape.rows, V(0));
  {
    const basic_csr<V, Memory> shared = there; // the arrays live as long as any copy
    const basic_csr<V, Memory> again(back);
    again.apply(V(1), basic_array<V, Memory>(x), V(0), y);
    const auto once = at_home(y);
    shared.apply(V(1), basic_array<V, Memory>(x), V(0), y);
    EXPECT_TRUE(same_bits(as_cview(once), as_cview(at_home(y))));
  }
  const auto expected = times<V>(wide, x);
  const auto got = at_home(y);
  for (index_t i = 0; i < a.shape.rows; ++i)
    ASSERT_NEAR(got[i], expected[i], 400 * std::numeric_limits<V>::epsilon()) << i;
}

/// Conjugate gradients with scalars beside the vectors, by the operations of a space alone.
template <class Space>
index_t solve_beside(Space& s, const typename Space::csr& a, const typename Space::array& b, typename Space::array& x,
                     double rtol) {
  auto r = s.make(b.size()), q = s.make(b.size()), p = s.make(b.size());
  auto numbers = s.make_slots(3);
  slot rr = s.at(numbers, 0), before = s.at(numbers, 1);
  const slot pq = s.at(numbers, 2);
  s.residual(a, b, x, r);
  s.copy(r, p);
  s.dot(r, r, rr);
  const double goal = rtol * s.norm2(b);
  index_t step = 0;
  for (; step < 10 * b.size() && std::sqrt(s.read(rr)) > goal; ++step) {
    a.apply_dot(p, q, pq);
    s.add(x, {rr, pq}, p, x);
    s.add(r, {rr, pq, -1}, q, r);
    std::swap(rr, before);
    s.dot(r, r, rr);
    s.add(r, {rr, before}, p, p);
  }
  return step;
}

/// What each operation of a space does, and a method made of them.
template <class Space> void check_space() {
  using V = typename Space::value;
  using array = typename Space::array;
  Space s;
  for (const index_t n : {0, 1, 7, 30000}) {
    const auto x = random_vector<V>(n, 1), y = random_vector<V>(n, 2);
    const array there_x(x), there_y(y);
    array sum = s.make(n), copy = s.make(n, V(3));
    double exact = 0, size = 0;
    for (index_t i = 0; i < n; ++i) exact += double(x[i]) * double(y[i]), size += std::abs(double(x[i]) * double(y[i]));
    auto numbers = s.make_slots(3);
    const double given[] = {3, -4};
    s.put({given, 2}, {s.at(numbers, 0).at, 2});
    s.dot(there_x, there_y, s.at(numbers, 2));
    double home[3] = {};
    s.fetch({numbers.data(), 3}, {home, 3});
    EXPECT_EQ(home[0], 3);
    EXPECT_EQ(home[1], -4);
    EXPECT_NEAR(home[2], exact, 1e-12 * size);
    EXPECT_EQ(s.read(s.at(numbers, 2)), home[2]);
    EXPECT_NEAR(s.dot(there_x, there_y), exact, 1e-12 * size);
    EXPECT_EQ(s.norm2(there_x), std::sqrt(s.dot(there_x, there_x)));
    s.add(there_x, {s.at(numbers, 0), s.at(numbers, 1), 2}, there_y, sum); // x - 1.5 y
    s.copy(sum, copy);
    const auto got = at_home(copy);
    for (index_t i = 0; i < n; ++i)
      ASSERT_NEAR(got[i], x[i] - V(1.5) * y[i], 4 * std::numeric_limits<V>::epsilon()) << i;
    s.add(there_x, V(-1.5), there_y, copy);
    s.put({home + 2, 0}, {numbers.data(), 0});
    const double zero = 0;
    s.put({&zero, 1}, {s.at(numbers, 1).at, 1});
    s.add(there_x, {s.at(numbers, 0), s.at(numbers, 1)}, there_y, sum); // nothing is divided by 0
    EXPECT_TRUE(same_bits(as_cview(at_home(sum)), as_cview(x)));
  }
  const auto wide = laplacian(15, 12);
  const auto a = as_precision<V>(wide);
  const untidy_rows<V> rows(a);
  const typename Space::csr there(a.shape, rows.row_ptr, rows.col, rows.val);
  const auto expected = random_vector<V>(a.shape.rows, 4);
  array b = s.make(a.shape.rows), x = s.make(a.shape.rows, V(0));
  there.apply(V(1), array(expected), V(0), b);
  const index_t steps = solve_beside(s, there, b, x, sizeof(V) == 8 ? 1e-10 : 1e-5);
  EXPECT_LT(steps, a.shape.rows);
  EXPECT_GT(steps, 10);
  const auto got = at_home(x);
  for (index_t i = 0; i < a.shape.rows; ++i) ASSERT_NEAR(got[i], expected[i], sizeof(V) == 8 ? 1e-8 : 1e-2) << i;
}

template <class F> std::string usage_said_by(F&& f) { return kit::said_by(fault::usage, f); }

/// The sentences of a space for calls that do not fit.
template <class Space> void check_sentences_of_space() {
  Space s;
  auto three = s.make(3, 1), four = s.make(4, 1);
  auto numbers = s.make_slots(2);
  const slot one = s.at(numbers, 0);
  EXPECT_EQ(usage_said_by([&] { s.copy(three, four); }),
            "copy: x and y have different lengths: give vectors of one length");
  EXPECT_EQ(usage_said_by([&] { s.dot(three, four, one); }),
            "dot: x and y have different lengths: give vectors of one length");
  EXPECT_EQ(usage_said_by([&] { s.dot(three, three, slot{}); }), "dot: the sum has no slot: give one of this space");
  EXPECT_EQ(usage_said_by([&] {
              s.add(three, {one, one}, three, four);
            }),
            "add: the vectors have different lengths: give vectors of one length");
  EXPECT_EQ(usage_said_by([&] {
              s.add(three, {one, {}}, three, three);
            }),
            "add: the factor has no slots: give two of this space");
  double home[1] = {};
  EXPECT_EQ(usage_said_by([&] {
              s.fetch({numbers.data(), 2}, {home, 1});
            }),
            "fetch: slots and places on the host differ in number: give as many of each");
  EXPECT_EQ(usage_said_by([&] {
              s.put({home, 1}, {numbers.data(), 2});
            }),
            "put: numbers on the host and slots differ in number: give as many of each");
  const view<typename Space::value> all(four.data(), 4), first = part(all, 0, 3), second = part(all, 1, 3);
  EXPECT_EQ(usage_said_by([&] { s.copy(first, second); }), "copy: y shares part of x's memory: give it its own");
  EXPECT_EQ(usage_said_by([&] {
              s.add(first, {one, one}, three, second);
            }),
            "add: the sum shares part of a vector's memory: give it its own, or that of v1 or v2");
  const view<typename Space::value> nowhere(nullptr, 3);
  EXPECT_EQ(usage_said_by([&] { s.copy(nowhere, first); }), "copy: x or y has no memory: give their elements");
  EXPECT_EQ(usage_said_by([&] {
              s.add(nowhere, {one, one}, three, first);
            }),
            "add: a vector has no memory: give its elements");
  EXPECT_EQ(usage_said_by([&] { s.dot(nowhere, first, one); }), "dot: x or y has no memory: give their elements");
  EXPECT_EQ(usage_said_by([&] { s.read(slot{}); }), "read: there is no slot: give one of this space");
  EXPECT_EQ(usage_said_by([&] {
              s.fetch({nullptr, 1}, {home, 1});
            }),
            "fetch: slots or places on the host have no memory");
  EXPECT_EQ(usage_said_by([&] {
              s.put({nullptr, 1}, {numbers.data(), 1});
            }),
            "put: numbers on the host or slots have no memory");
  EXPECT_EQ(usage_said_by([&] { s.add(three, 1, four, three); }),
            "add: v1 has 3 elements and v2 has 4: give vectors of one length");
}

} // namespace furrow::kit
