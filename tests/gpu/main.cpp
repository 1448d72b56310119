// SPDX-License-Identifier: BSD-3-Clause
// All GPU tests. FURROW_RECEIPT=FILE asks for a receipt of the run.
#include "receipt.hpp"

#include <cstdlib>

int main(int argc, char** argv) {
  // Kernels of two ranks wait for each other on one GPU in some tests: the driver, when it loads the next one, waits
  // for those that run, and keeps the other rank waiting, too.
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  // Streams of both share 8 queues of the GPU, unless more are asked for: a kernel that the other rank waits for would
  // stand behind one that waits itself.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  testing::InitGoogleTest(&argc, argv);
  if (const char* file = std::getenv("FURROW_RECEIPT"))
    testing::UnitTest::GetInstance()->listeners().Append(furrow::receipt_writer(file).release());
  return RUN_ALL_TESTS();
}
