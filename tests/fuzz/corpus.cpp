// SPDX-License-Identifier: BSD-3-Clause
#include "io/io_test_kit.hpp"

#include <cstdio>

using namespace furrow;
using namespace furrow::io_test;

namespace {

const std::vector<std::string> matrices = {
    "%%MatrixMarket matrix coordinate real general\n% a comment\n3 4 5\n1 1 2.5\n2 2 -3\n3 4 1e-3\n1 3 0.1\n2 2 7\n",
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 1 -1\n2 2 4\n3 2 -1.25e2\n",
    "%%MatrixMarket matrix coordinate integer general\r\n2 3 3\r\n1 1 12\r\n2 3 -9007199254740993\r\n1 2 0\r\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n\n5 5 3\n1 1\n2 1\n5 3\n",
    "%MatrixMarket matrix coord double skew-symmetric\r3 3 2\r2 1 1.5\r3 1 -2\r",
    "%% MatrixMarket matrix array real general\n3 2\n1\n2.5\n-3e2\n% four\n4\n\n5\n6\n",
    "%%MatrixMarket matrix array unsigned-integer symmetric\n2 2\n1\n2\n3",
    "\xEF\xBB\xBF%%MatrixMarket matrix coordinate real general\n\t2 2 2\n 1 1 nan \n+2 02 -.5D+1\n",
};

/// Lines for the fuzzer of matrices: a byte that says the kind, then lines.
const std::vector<std::string> lines = {
    std::string(1, '\0') + "4711 12 -3.25e-17\n7 12345678 0.5E+3\n1 1 1\n",
    std::string(1, '\0') + "1 2 12345678901234567890\r\n3 4 1e300\n5 6 -inf\n7 8 .5\n9 9 2.d0\n1 1 -1.5e-05\n",
    "\x01"
    "4711 12 -907\n12345678 1 0\n1 1 +5\n",
    "\x02"
    "4711 12\n1 12345678\n\n 7 8 \n",
};

const std::vector<std::string> vectors = {
    "1\n2.5\n-3\n",
    "\xEF\xBB\xBF% note\n1e3\n\n -.5 \n+7",
    "1\r2\r% three\r3\r",
    "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n",
    "%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 7\n2 1 -0\n",
    "%%MatrixMarket vector coordinate real general\n3 3\n1 2\n3 8\n3 0.5\n",
    "%%MatrixMarket vector coordinate integer\n3\n2 5\n1 7",
    "%%MatrixMarket vector array real general\n3\n4\n5\n6\n",
    "%%MatrixMarket vector coordinate pattern general\n3 2\n1\n3\n",
    std::string("\x93NUMPY\1\0\x36\0", 10) + "{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}" +
        std::string(16, '\x3F'),
    std::string("\x93NUMPY\2\0\x39\0\0\0", 12) + "{'descr': '>i4', 'fortran_order': True, 'shape': (3, 1), }" +
        std::string(12, '\1'),
};

const std::string side = "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n";

} // namespace

/// Writes the inputs that the fuzzers begin with into FOLDER/NAME of each.
int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = words[1];
  const auto put = [&](const char* name, const std::vector<std::string>& inputs) {
    std::filesystem::create_directories(folder / name);
    for (std::size_t k = 0; k < inputs.size(); ++k) put_file(folder / name / ("seed" + std::to_string(k)), inputs[k]);
  };
  std::vector<std::string> all = matrices, packed, archives;
  all.insert(all.end(), lines.begin(), lines.end());
  put("matrix", all);
  put("vector", vectors);
  for (const std::string& text : matrices) packed.push_back(gzip(text)), packed.push_back("\x02" + text);
  packed.push_back(gzip(matrices[0].substr(0, 60)) + gzip(matrices[0].substr(60)) + std::string(40, '\0'));
  put("gzip", packed);
  archives.push_back(tar_member("m/m.mtx", matrices[0]) + tar_member("m/m_b.mtx", side) + tar_end);
  archives.push_back(tar_member("x/readme", "hello") + tar_member("x/other.mtx", matrices[1]) + tar_end);
  archives.push_back(tar_member("m.mtx", matrices[4]));
  put("archive", archives);
  const coo<double> a = make({3, 4}, {{0, 0, 1.5}, {0, 3, -0.0}, {2, 1, 1e300}});
  std::filesystem::create_directories(folder / "cache");
  write_cache({a, {}, "name", "origin"}, folder / "cache" / "seed0");
  write_cache({a, host_array<double>{1, 2, 3}, "", ""}, folder / "cache" / "seed1");
  write_cache({make({0, 0}, {}), {}, "none", ""}, folder / "cache" / "seed2");
  std::filesystem::create_directories(folder / "petsc");
  const host_array<double> b{1, 2, 3};
  write_petsc({a, {}, "", ""}, folder / "petsc" / "seed0");
  write_petsc({a, b, "", ""}, folder / "petsc" / "seed1");
  write_vector(as_cview(b), folder / "petsc" / "seed2.petsc");
}
