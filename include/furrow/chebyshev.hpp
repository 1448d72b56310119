// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/arithmetic.hpp>
#include <furrow/chebyshev/convert.hpp>
#include <furrow/chebyshev/density.hpp>
#include <furrow/chebyshev/fit.hpp>
#include <furrow/chebyshev/operator.hpp>
#include <furrow/chebyshev/points.hpp>
#include <furrow/chebyshev/product.hpp>
#include <furrow/chebyshev/roots.hpp>
#include <furrow/chebyshev/series.hpp>
