// SPDX-License-Identifier: BSD-3-Clause
// Played kernels have no half.
#pragma once
