// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace furrow {

/// Writes a JSON receipt of the whole run to `file` at its end: commit, device, driver, how many tests ran, failed and
/// were skipped (with the names of the last two), and the worst row error that the kit saw.
std::unique_ptr<testing::TestEventListener> receipt_writer(std::string file);

} // namespace furrow
