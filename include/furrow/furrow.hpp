// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/assemble.hpp>
#include <furrow/coo.hpp>
#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/gemv.hpp>
#include <furrow/generate.hpp>
#include <furrow/io.hpp>
#include <furrow/operator.hpp>
#include <furrow/solve.hpp>
#include <furrow/solver.hpp>
#include <furrow/stats.hpp>
#include <furrow/tune.hpp>
#include <furrow/version.hpp>
#include <furrow/view.hpp>
