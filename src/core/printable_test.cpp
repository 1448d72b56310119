// SPDX-License-Identifier: BSD-3-Clause
#include "core/printable.hpp"

#include <gtest/gtest.h>

using furrow::printable;

TEST(printable, letters_of_all_languages_stay) {
  for (const char* name :
       {"", "m.mtx", "Größe é.mtx", "行列.mtx", "матрица", "\U0001F33E", "a b ~ 100%", "\u00A0\uFFFD"})
    EXPECT_EQ(printable(name), name);
}

TEST(printable, controls_and_turns_of_direction_are_replaced) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\rd\te\x7f"), "a?[31mb?c?d?e?");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\u0085\u009b31m"), "??31m"); // next line and CSI of C1, as valid UTF-8
  EXPECT_EQ(printable("a\u202exe.xtm\u2066\u2028\u200f\ufeff"), "a?xe.xtm????");
  EXPECT_EQ(printable("a\nb", ' '), "a b");
}

TEST(printable, bytes_that_are_no_utf8_are_replaced_one_by_one) {
  EXPECT_EQ(printable("m\xe9.mtx"), "m?.mtx");           // Latin-1
  EXPECT_EQ(printable("\xc0\xaf\xe0\x80\xaf"), "?????"); // longer than need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80\xff\xfe"), "??????");
  EXPECT_EQ(printable("\xe8\xa1"), "??"); // cut short
  EXPECT_EQ(printable("\xe8\xa1é"), "??é");
}
