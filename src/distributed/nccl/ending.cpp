// SPDX-License-Identifier: BSD-3-Clause
#include "ending.hpp"

#include "distributed/bytes.hpp"
#include "distributed/process.hpp"

namespace furrow::nccl {

std::shared_ptr<ending> ending_of_process(communicator& c) {
  struct place {
    process_token process;
    const std::shared_ptr<ending>* made;
  };
  const auto own = std::make_shared<ending>();
  std::shared_ptr<ending> shared = own;
  for (const place& p : gather_each(c, place{token_of_process(), &own}))
    if (p.process == token_of_process()) {
      shared = *p.made; // of the first rank here
      break;
    }
  gather_each(c, 0); // until all have it
  return shared;
}

} // namespace furrow::nccl
