// SPDX-License-Identifier: BSD-3-Clause
// All GPU tests. FURROW_RECEIPT=FILE asks for a receipt of the run.
#include "receipt.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* file = std::getenv("FURROW_RECEIPT"))
    testing::UnitTest::GetInstance()->listeners().Append(furrow::receipt_writer(file).release());
  return RUN_ALL_TESTS();
}
