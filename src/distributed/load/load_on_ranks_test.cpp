// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/load_on_ranks.hpp>

#include "distributed/metis.hpp"
#include "distributed/partition.hpp"
#include "io/cache_layout.hpp"
#include "io/checksum.hpp"
#include "io/io_test_kit.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/generate.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <sys/stat.h>

namespace furrow {
namespace {

using io_test::bytes_of;
using io_test::put_file;

class loading_on_ranks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(, loading_on_ranks, testing::ValuesIn(kit::numbers_of_ranks));

/// Part [first, last) of a matrix, its rows numbered from 0 on.
coo<double> rows_of(const coo<double>& a, index_t first, index_t last) {
  const auto* const begin = std::lower_bound(a.row.begin(), a.row.end(), first);
  const auto* const end = std::lower_bound(a.row.begin(), a.row.end(), last);
  const index_t from = begin - a.row.begin(), n = end - begin;
  coo<double> part{
      {last - first, a.shape.cols}, host_array<std::int32_t>(n), host_array<std::int32_t>(n), host_array<double>(n)};
  for (index_t k = 0; k < n; ++k) {
    part.row[k] = static_cast<std::int32_t>(a.row[from + k] - first);
    part.col[k] = a.col[from + k], part.val[k] = a.val[from + k];
  }
  return part;
}

/// Holds what ranks load to the cut of what one reader loads, bit by bit. Returns why rank 0 read all of it.
std::string check_parts(int ranks, const std::string& what, const source* opened = nullptr,
                        const problem* known = nullptr) {
  const problem whole = known ? problem(*known) : load(what);
  const auto begins = cut_by_entries(as_cview(whole.a.row), whole.a.shape.rows, ranks);
  std::mutex one;
  std::string because;
  run_ranks(ranks, [&](communicator& c) {
    const part_of_problem mine =
        c.rank() == 0 ? load_on_ranks(c, what, opened) : load_on_ranks(c, "rank 0 knows what is wanted");
    const auto me = static_cast<std::size_t>(c.rank());
    const std::lock_guard lock(one);
    ASSERT_EQ(mine.begins, begins) << what;
    const coo<double> wanted = rows_of(whole.a, begins[me], begins[me + 1]);
    EXPECT_EQ(mine.a.shape, wanted.shape) << what;
    EXPECT_EQ(io_test::list(mine.a), io_test::list(wanted)) << what << ", rank " << me;
    EXPECT_EQ(mine.entries, whole.a.nnz());
    EXPECT_EQ(mine.name, whole.name);
    EXPECT_EQ(mine.origin, whole.origin);
    EXPECT_EQ(mine.b.has_value(), c.rank() == 0 && whole.b.has_value());
    if (mine.b) {
      EXPECT_TRUE(kit::same_bits(*mine.b, *whole.b));
    }
    because = mine.first_because;
  });
  return because;
}

/// The sentence of one reader, and that all ranks end with the same.
std::string check_refusal(int ranks, const std::string& file) {
  const std::string wanted = io_test::refusal([&] { load(file); });
  std::mutex one;
  run_ranks(ranks, [&](communicator& c) {
    std::string said;
    try {
      load_on_ranks(c, file);
    } catch (const error& e) {
      said = e.what();
      EXPECT_EQ(e.kind, fault::input);
    }
    const std::lock_guard lock(one);
    EXPECT_EQ(said, wanted) << "rank " << c.rank() << " of " << ranks;
  });
  return wanted;
}

/// A text of several pieces (256 KiB each), in no order, whose entries come twice here and there.
std::string large_text(std::string_view symmetry, std::string_view field = "real", index_t lines = 60000) {
  constexpr index_t n = 1500;
  io_test::dice dice{7};
  const bool mirrored = symmetry != "general", valued = field != "pattern";
  std::string body;
  for (index_t k = 0; k < lines; ++k) {
    auto i = static_cast<index_t>(dice.below(n)), j = static_cast<index_t>(dice.below(n) * dice.below(n) / n);
    if (mirrored && i < j) std::swap(i, j);
    if (symmetry == "skew-symmetric" && i == j) ++i, i %= n, j = 0, i += i == 0;
    body += fmt::format("{} {}", i + 1, j + 1);
    if (valued) body += fmt::format(" {}", double(dice.next()) * 0x1p-60 - 7);
    body += dice.below(50) == 0 ? " \r\n\n" : "\n";
  }
  return fmt::format("%%MatrixMarket matrix coordinate {} {}\n% about it\n{} {} {}\n{}", field, symmetry, n, n, lines,
                     body);
}

TEST_P(loading_on_ranks, parse_a_text_as_one_reader_does) {
  const io_test::folder here;
  const std::string file = here / "a.mtx";
  for (const auto& [symmetry, field] : {std::pair("general", "real"),
                                        {"symmetric", "real"},
                                        {"general", "pattern"},
                                        {"symmetric", "pattern"},
                                        {"skew-symmetric", "real"},
                                        {"general", "integer"}}) {
    put_file(file, large_text(symmetry, field));
    ASSERT_GT(std::filesystem::file_size(file), 256 << 10);
    EXPECT_EQ(check_parts(GetParam(), file), "") << symmetry << ' ' << field;
  }
  for (const char* const body : {"1 1 1\n", "3 3 4\n1 1 1\n2 2 2\n3 3 3\n1 3 -0.0", "2 5 1\n1 5 nan\n", "4 4 0\n",
                                 "0 0 0\n", "3 3 3\n2 1 1e17\n2 1 1\n2 1 -1e17\n"}) {
    const std::string text = std::string(body) == "1 1 1\n" ? "1 1 1\n1 1 1\n" : body;
    put_file(file, "%%MatrixMarket matrix coordinate real general\n" + text);
    EXPECT_EQ(check_parts(GetParam(), file), "") << text;
  }
}

TEST_P(loading_on_ranks, parse_a_text_by_columns_and_one_with_all_of_it_in_few_rows) {
  const io_test::folder here;
  const std::string file = here / "a.mtx";
  write_matrix(generate("random:9000:9").a, file);
  EXPECT_EQ(check_parts(GetParam(), file), "");
  std::string body; // duplicates that shift the shares: row 1 has 40000 entries in the file, 200 of them remain
  for (int k = 0; k < 40000; ++k) body += fmt::format("1 {} {}\n", k % 200 + 1, k * 0.125);
  for (int k = 0; k < 40000; ++k) body += fmt::format("{} {} 1.5\n", k % 2000 + 1, k / 20 + 1);
  put_file(file, "%%MatrixMarket matrix coordinate real general\n2000 2000 80000\n" + body);
  EXPECT_EQ(check_parts(GetParam(), file), "");
  put_file(file, "%%MatrixMarket matrix coordinate real general\n300000 300000 3\n9 9 1\n299999 2 2\n8 300000 3\n");
  EXPECT_EQ(check_parts(GetParam(), file), ""); // far more rows than entries
}

TEST_P(loading_on_ranks, refuse_a_text_with_the_line_of_one_reader) {
  const io_test::folder here;
  const std::string file = here / "a.mtx";
  const std::string good = large_text("general", "real", 24000);
  const auto line_at = [&](double where) { // the begin of a line
    return good.find('\n', static_cast<std::size_t>(double(good.size()) * where)) + 1;
  };
  for (const double where : {0.001, 0.5, 0.77, 0.999})
    for (const char* const wrong : {"1 2 x\n", "0 1 1\n", "1 1501 1\n", "1 1\n", "% no\n", "1 1 1e999\n", "1 1 1 1\n",
                                    "1 1\r1\n", "\n\n\n1 1,5 2\n"}) {
      std::string bad = good;
      bad.insert(line_at(where), wrong);
      put_file(file, bad);
      EXPECT_NE(check_refusal(GetParam(), file).find("a.mtx:"), std::string::npos);
    }
  std::string twice = good; // of two, the first is said
  twice.insert(line_at(0.9), "1 2 x\n").insert(line_at(0.3), "0 1 1\n");
  put_file(file, twice);
  EXPECT_NE(check_refusal(GetParam(), file).find("'0' is outside"), std::string::npos);
  put_file(file, good + "1 1 1\n");
  EXPECT_NE(check_refusal(GetParam(), file).find("more entries than the 24000"), std::string::npos);
  put_file(file, good + "\n \n1 1 1\n2 2 2");
  check_refusal(GetParam(), file);
  put_file(file, good.substr(0, line_at(0.6)));
  EXPECT_NE(check_refusal(GetParam(), file).find("the file ends after"), std::string::npos);
  put_file(file, good.substr(0, line_at(0.8) - 4));
  check_refusal(GetParam(), file);
  put_file(file, "%%MatrixMarket matrix coordinate real general\n2 2 1\n");
  check_refusal(GetParam(), file);
  put_file(file, "%%MatrixMarket matrix coordinate real general\n2 2 -1\n");
  check_refusal(GetParam(), file);
  put_file(file, "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n" +
                     std::string((64 << 20) + (300 << 10), '\n'));
  EXPECT_NE(check_refusal(GetParam(), file).find("more than 64 MiB of blank lines"), std::string::npos);
  put_file(file, std::string());
  check_refusal(GetParam(), file);
  check_refusal(GetParam(), here / "absent.mtx");
}

TEST_P(loading_on_ranks, refuse_triangles_of_different_ranks) {
  const io_test::folder here;
  const std::string file = here / "a.mtx";
  const std::string good = large_text("symmetric");
  for (const double where : {0.01, 0.5, 0.98}) {
    std::string bad = good;
    bad.insert(good.find('\n', static_cast<std::size_t>(double(good.size()) * where)) + 1, "2 1400 1\n");
    bad.erase(bad.rfind('\n', bad.size() - 2) + 1); // as many lines as promised
    put_file(file, bad);
    EXPECT_NE(check_refusal(GetParam(), file).find("one triangle must be left out"), std::string::npos);
  }
}

TEST_P(loading_on_ranks, read_their_rows_of_a_cache) {
  const io_test::folder here;
  const std::string file = here / "a.furrow";
  for (const char* const spec : {"poisson3d:30", "powerlaw:20000:9:2.2", "rectangular:50:90:7", "poisson1d:3"}) {
    problem p = generate(spec);
    write_cache(p, file);
    EXPECT_EQ(check_parts(GetParam(), file), "") << spec;
    p.b = host_array<double>(p.a.shape.rows);
    for (index_t i = 0; i < p.b->size(); ++i) (*p.b)[i] = 1.0 / double(i + 1);
    write_cache(p, file);
    EXPECT_EQ(check_parts(GetParam(), file), "") << spec;
  }
  problem empty;
  empty.a.shape = {9, 9};
  write_cache(empty, file);
  EXPECT_EQ(check_parts(GetParam(), file), "");
  empty.a = kit::assemble({900, 900}, {{3, 4, 1.0}, {880, 1, 2.0}}); // most rows have no entries, the last ones too
  write_cache(empty, file);
  EXPECT_EQ(check_parts(GetParam(), file), "");
}

TEST_P(loading_on_ranks, refuse_a_damaged_cache_as_one_reader_does) {
  const io_test::folder here;
  const std::string file = here / "a.furrow";
  problem p = generate("poisson3d:30"); // sections of 0.7 and 1.5 MB, in pieces of 1 MiB
  p.b = host_array<double>(p.a.shape.rows, 1.0);
  write_cache(p, file);
  const std::string good = bytes_of(file);
  io::cache_header h;
  std::memcpy(&h, good.data(), sizeof h);
  const auto refused = [&](const std::string& bytes) {
    put_file(file, bytes);
    return check_refusal(GetParam(), file);
  };
  for (const auto& section : h.section)
    for (const double where : {0.0, 0.4, 0.999}) {
      std::string bad = good;
      bad[section.offset + static_cast<std::size_t>(double(section.bytes) * where)] ^= 4;
      EXPECT_NE(refused(bad).find("the checksum of its"), std::string::npos);
    }
  EXPECT_NE(refused(good.substr(0, good.size() - 9)).find("bytes in place of"), std::string::npos);
  refused(good.substr(0, 100));
  std::string bad = good;
  bad[17] ^= 1;
  EXPECT_NE(refused(bad).find("its header"), std::string::npos);
  // Entries that break a promise under sums that are right.
  const auto with = [&](int s, index_t entry, std::int32_t index) {
    std::string crafted = good;
    std::memcpy(crafted.data() + h.section[s].offset + 4 * entry, &index, 4);
    io::cache_header own = h;
    std::vector<std::uint64_t> sums;
    for (std::uint64_t at = 0; at < h.section[s].bytes; at += io::cache_piece)
      sums.push_back(
          io::checksum(crafted.data() + h.section[s].offset + at, std::min(io::cache_piece, h.section[s].bytes - at)));
    own.section[s].sum = io::checksum(sums.data(), 8 * sums.size());
    own.sum = io::checksum(&own, offsetof(io::cache_header, sum));
    std::memcpy(crafted.data(), &own, sizeof own);
    return crafted;
  };
  const index_t middle = p.a.nnz() / 2;
  for (const std::int32_t index : {-1, 0, 27000, 26999, 2147483647})
    EXPECT_NE(refused(with(1, middle, index)).find("triplet"), std::string::npos) << index;
  for (const std::int32_t index : {-1, 27000, 26999, 2147483647})
    EXPECT_NE(refused(with(2, middle, index)).find("triplet"), std::string::npos) << index;
}

TEST_P(loading_on_ranks, make_their_rows) {
  for (const char* const spec :
       {"poisson1d:9", "poisson2d:70", "poisson3d:5", "stencil2d9:6", "stencil3d27:4", "anisotropic2d:6:0.01",
        "convection2d:66:2.5", "elasticity3d:2", "random:50:7", "random:51:8:3", "banded:9000:8:9:5",
        "powerlaw:9000:6:2.1:9", "dense:13", "poisson1d:1", "rectangular:30:70:9"})
    EXPECT_EQ(check_parts(GetParam(), spec), "") << spec;
  for (const char* const wrong : {"poisson3d:0", "poisson4d:9", "banded:9:3"}) {
    std::string wanted;
    try {
      generate(wrong);
    } catch (const error& e) {
      wanted = e.what();
    }
    EXPECT_NE(wanted, "");
    EXPECT_EQ(kit::sentence_of_ranks(GetParam(), [&](communicator& c) { load_on_ranks(c, wrong); }), wanted);
  }
}

TEST_P(loading_on_ranks, leave_to_the_first_what_has_no_parts) {
  const io_test::folder here;
  const bool one = GetParam() == 1; // who has all rows is no reader for others
  const auto because = [&](const char* why) { return one ? std::string() : std::string(why); };
  const std::string text = large_text("general");
  const std::string file = here / "a.mtx";
  put_file(file, io_test::gzip(text));
  EXPECT_EQ(check_parts(GetParam(), file), because("it is packed"));
  put_file(file, "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n");
  EXPECT_EQ(check_parts(GetParam(), file), because("it is an array"));
  put_file(file, "%%MatrixMarket matrix coordinate real general\r2 2 1\r1 2 3\r");
  EXPECT_EQ(check_parts(GetParam(), file), because("its lines end with carriage returns"));
  put_file(file, io_test::tar_member("m/m.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 3\n") +
                     io_test::tar_member("m/m_b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n5\n") +
                     io_test::tar_end);
  EXPECT_EQ(check_parts(GetParam(), file), because("it is an archive"));
  write_petsc(generate("poisson2d:9"), file);
  EXPECT_EQ(check_parts(GetParam(), file), because("it is a file of PETSc"));
  put_file(file, io_test::gzip(text.substr(0, text.size() / 2)));
  check_refusal(GetParam(), file);
}

TEST_P(loading_on_ranks, leave_to_the_first_what_others_do_not_find) {
  const io_test::folder here;
  const bool one = GetParam() == 1;
  for (const char* const name : {"a.mtx", "a.furrow"}) {
    const std::string file = here / name;
    const problem p = generate("poisson2d:30");
    const auto write = [&] {
      if (std::string_view(name).ends_with("mtx")) write_matrix(p.a, file);
      else write_cache(p, file);
    };
    write();
    const problem known = load(file);
    const source opened(file);
    std::filesystem::rename(file, here / "elsewhere");
    EXPECT_EQ(check_parts(GetParam(), file, &opened, &known), one ? "" : "rank 1 does not find it");
    put_file(file, "another");
    EXPECT_EQ(check_parts(GetParam(), file, &opened, &known), one ? "" : "rank 1 finds another file of that name");
  }
}

TEST_P(loading_on_ranks, solve_with_the_bits_of_a_system_that_the_first_one_has) {
  const io_test::folder here;
  const std::string file = here / "a.mtx";
  for (const char* const spec : {"poisson2d:40", "convection2d:30:5"}) {
    const problem p = generate(spec);
    write_matrix(p.a, file);
    host_array<double> b(p.a.shape.rows);
    for (index_t i = 0; i < b.size(); ++i) b[i] = 1.0 / double(i % 17 + 1);
    for (const partition how : {partition::rows, partition::metis}) {
      if (how == partition::metis && !has_metis()) continue;
      host_array<double> wanted(b.size(), 0.0), x(b.size(), 0.0);
      ranks_report one, other;
      run_ranks(GetParam(), [&](communicator& c) {
        const bool first = c.rank() == 0;
        auto mine = solve_from_first<double>(c, first ? coo<double>(p.a) : coo<double>(), as_cview(b),
                                             first ? as_view(wanted) : view<double>(), {}, how);
        if (first) one = std::move(mine);
      });
      run_ranks(GetParam(), [&](communicator& c) {
        const bool first = c.rank() == 0;
        auto mine = solve_rows_from_first<double>(c, load_on_ranks(c, file).a, as_cview(b),
                                                  first ? as_view(x) : view<double>(), {}, how);
        if (first) other = std::move(mine);
      });
      EXPECT_EQ(one.report.why, status::converged);
      EXPECT_EQ(one.report.history, other.report.history) << spec;
      EXPECT_EQ(one.partition, other.partition);
      EXPECT_EQ(one.cut(), other.cut());
      EXPECT_TRUE(kit::same_bits(x, wanted)) << spec;
    }
  }
}

TEST_P(loading_on_ranks, say_what_is_wrong_with_a_system) {
  const auto said = [&](const char* spec, index_t size, const solve_options& o, partition how) {
    host_array<double> b(size, 1.0), x(size, 0.0);
    return kit::sentence_of_ranks(GetParam(), [&](communicator& c) {
      solve_rows_from_first<double>(c, load_on_ranks(c, spec).a, as_cview(b),
                                    c.rank() == 0 ? as_view(x) : view<double>(), o, how);
    });
  };
  EXPECT_NE(said("rectangular:30:70:9", 30, {}, partition::rows)
                .find("b has 30 elements and x 30, but the matrix is 30 x 70: give b one a row and x one a column"),
            std::string::npos);
  EXPECT_NE(said("poisson2d:9", 80, {}, partition::rows).find("b has 80 elements and x 80 for a matrix of 81 rows"),
            std::string::npos);
  if (!has_metis()) return;
  solve_options cg;
  cg.solver = "cg";
  EXPECT_NE(said("convection2d:9:5", 81, cg, partition::metis).find("A(1, 2) = -1 but A(2, 1) = -6"),
            std::string::npos);
}

TEST_P(loading_on_ranks, name_an_element_of_b_by_its_number_before_metis) {
  if (!has_metis()) GTEST_SKIP() << "libmetis.so.5 is not installed";
  host_array<double> b(81, 1.0), x(81, 0.0);
  b[40] = std::nan("");
  run_ranks(GetParam(), [&](communicator& c) {
    const auto report =
        solve_rows_from_first<double>(c, load_on_ranks(c, "poisson2d:9").a, as_cview(b),
                                      c.rank() == 0 ? as_view(x) : view<double>(), {}, partition::metis);
    EXPECT_TRUE(report.report.message.ends_with("element 41 of b is nan")) << report.report.message;
  });
}

TEST_P(loading_on_ranks, gather_what_was_cut) {
  const problem p = generate("powerlaw:300:6:2.2");
  run_ranks(GetParam(), [&](communicator& c) {
    const part_of_problem mine = load_on_ranks(c, p.name);
    const coo<double> all = gather_on_first(c, mine.a);
    const host_array<double> values(mine.a.shape.rows, double(c.rank()));
    const host_array<double> x = gather_on_first(c, as_cview(values));
    if (c.rank() > 0) return;
    EXPECT_EQ(io_test::list(all), io_test::list(p.a));
    EXPECT_EQ(x.size(), p.a.shape.rows);
    for (index_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], double(owner_of(mine.begins, i)));
  });
}

TEST_P(loading_on_ranks, solve_for_b_and_x_in_parts_with_the_bits_of_whole_ones) {
  const auto whole_b = kit::random_vector<double>(900, 4), guess = kit::random_vector<double>(900, 8);
  solve_options options;
  options.solver = "cg";
  for (const partition how : {partition::rows, partition::metis}) {
    if (how == partition::metis && !has_metis()) continue;
    host_array<double> x = guess;
    run_ranks(GetParam(), [&](communicator& c) {
      const bool first = c.rank() == 0;
      solve_rows_from_first<double>(c, load_on_ranks(c, "stencil2d9:30").a, first ? as_cview(whole_b) : cview<double>{},
                                    first ? as_view(x) : view<double>{}, options, how);
    });
    run_ranks(GetParam(), [&](communicator& c) {
      part_of_problem p = load_on_ranks(c, "stencil2d9:30");
      host_array<double> b(p.a.shape.rows), mine(p.a.shape.rows);
      scatter_from_first<double>(c, as_cview(whole_b), as_view(b));
      scatter_from_first<double>(c, as_cview(guess), as_view(mine));
      const auto on = solve_rows_in_parts<double>(c, std::move(p.a), as_cview(b), as_view(mine), options, how);
      EXPECT_EQ(on.report.why, status::converged);
      const host_array<double> all = gather_on_first(c, as_cview(mine));
      if (c.rank() == 0) {
        EXPECT_TRUE(kit::same_bits(all, x));
      }
    });
  }
}

TEST_P(loading_on_ranks, refuse_parts_that_do_not_fit) {
  const auto says = [&](index_t more_b, index_t more_x) {
    return kit::sentence_of_ranks(GetParam(), [&](communicator& c) {
      part_of_problem p = load_on_ranks(c, "poisson1d:70");
      host_array<double> b(p.a.shape.rows + more_b, 1.0), x(p.a.shape.rows + more_x, 0.0);
      solve_rows_in_parts<double>(c, std::move(p.a), as_cview(b), as_view(x), {});
    });
  };
  EXPECT_EQ(says(0, 0), "");
  EXPECT_NE(says(1, 0).find(" rows: give one for each"), std::string::npos);
  EXPECT_NE(says(0, -1).find(" rows: give one for each"), std::string::npos);
}

} // namespace
} // namespace furrow
