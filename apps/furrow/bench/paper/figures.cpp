// SPDX-License-Identifier: BSD-3-Clause
#include "figures.hpp"

namespace furrow::cli::paper_bench {
namespace {

constexpr method grid_methods[] = {
    {"COO", "coo", "segmented", "rows"},       {"CSR scalar", "csr", "scalar", "scalar"},
    {"CSR vector", "csr", "warp_per_row", ""}, {"DIA", "dia", "rows", "rows"},
    {"ELL", "ell", "scalar", "scalar"},
};

constexpr subject grids[] = {
    {"3-point", "", "poisson1d:1000000", {{{6.2, 4.2}, {7.6, 4.9}, {1.0, 0.5}, {24.5, 12.7}, {18.9, 10.1}}}},
    {"5-point", "", "poisson2d:1000", {{{6.1, 3.9}, {5.3, 3.5}, {1.7, 0.8}, {30.6, 14.3}, {21.6, 11.5}}}},
    {"7-point", "", "poisson3d:100", {{{5.1, 3.8}, {4.3, 2.7}, {2.3, 1.1}, {33.0, 15.7}, {23.3, 12.5}}}},
    {"9-point", "", "stencil2d9:1000", {{{6.3, 3.5}, {3.5, 2.5}, {3.0, 1.4}, {34.9, 15.5}, {23.8, 12.6}}}},
    {"27-point", "", "stencil3d27:100", {{{4.8, 3.2}, {2.7, 2.5}, {8.9, 4.2}, {36.8, 16.7}, {25.3, 13.5}}}},
};

constexpr method general_methods[] = {{"HYB", "hyb:bell_garland", "scalar", "scalar"},
                                      {"CSR vector", "csr", "warp_per_row", ""}};

// The stand-ins have the rows and the mean row length of the matrix; the bands are about as wide as those of such
// meshes in their usual order, and the powers give rows about as uneven.
constexpr subject general[] = {
    {"Dense", "dense2", "dense:2000", {{{3.9, 3.3}, {16.9, 14.2}}}},
    {"Protein", "pdb1HYS", "banded:36417:119:4000", {{{13.7, 9.8}, {13.9, 10.4}}}},
    {"FEM/Spheres", "consph", "elasticity3d:30", {{{22.2, 12.4}, {13.0, 7.7}}}},
    {"FEM/Cantilever", "cant", "elasticity3d:27", {{{16.9, 10.0}, {13.0, 7.6}}}},
    {"Wind Tunnel", "pwtk", "banded:217918:53:2000", {{{22.3, 13.9}, {13.0, 7.1}}}},
    {"FEM/Harbor", "rma10", "banded:46835:51:2000", {{{11.5, 6.9}, {11.5, 6.7}}}},
    {"QCD", "conf5_4-8x8-05", "banded:49152:39:6000", {{{21.7, 12.7}, {10.2, 4.6}}}},
    {"FEM/Ship", "shipsec1", "banded:140874:55:4000", {{{18.9, 11.5}, {12.5, 7.1}}}},
    {"Economics", "mac_econ_fwd500", "powerlaw:206500:6.2:8", {{{7.7, 5.0}, {2.1, 1.0}}}},
    {"Epidemiology", "mc2depi", "banded:525825:4:730", {{{19.9, 10.7}, {1.4, 0.7}}}},
    {"FEM/Accelerator", "cop20k_A", "banded:121192:22:50000", {{{9.6, 5.9}, {6.6, 3.5}}}},
    {"Circuit", "scircuit", "powerlaw:170998:5.6:3.2", {{{7.8, 5.0}, {1.9, 0.9}}}},
    {"Webbase", "webbase-1M", "powerlaw:1000005:3.1:2.4", {{{8.0, 5.5}, {1.0, 0.5}}}},
    {"LP", "rail4284", "rectangular:4284:1092610:2633", {{{3.1, 2.3}, {5.3, 4.4}}}},
};

constexpr suite all[] = {{"Laplacians on grids", "grids", grid_methods, grids},
                         {"Unstructured matrices", "matrices", general_methods, general}};

} // namespace

std::span<const suite> suites() { return all; }

} // namespace furrow::cli::paper_bench
