// SPDX-License-Identifier: BSD-3-Clause
// gpu_gemv: dense products of many shapes, Furrow and cuBLAS in the same run, the second cache flushed between repeats.
//   gpu_gemv [--json FILE] [--type f64|f32|f16|bf16] [MxN...]
#include "backends/gpu/queue.hpp"
#include "formats/dense/call.hpp"
#include "formats/dense/gpu_plan.hpp"
#include "tune/ceiling.hpp"
#include "tune/steady.hpp"

#include <furrow/array.hpp>
#include <furrow/gemv.hpp>
#include <furrow/version.hpp>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

using nlohmann::json;
namespace furrow::bench {
namespace {

void check(cublasStatus_t s) { furrow::check(s == CUBLAS_STATUS_SUCCESS, fault::device, cublasGetStatusString(s)); }

/// Median seconds of each call, in turns, nothing of their data in the second cache.
std::vector<double> compare_cold(const std::vector<std::function<void()>>& calls, int repeat = 21) {
  const gpu::queue& q = gpu::current_queue();
  cache_flush flush(parse_device("gpu"));
  cudaEvent_t begin = nullptr, end = nullptr;
  gpu::check(cudaEventCreate(&begin));
  gpu::check(cudaEventCreate(&end));
  std::vector<std::vector<double>> seconds(calls.size());
  for (int turn = -2; turn < repeat; ++turn)
    for (std::size_t k = 0; k < calls.size(); ++k) {
      flush();
      gpu::check(cudaEventRecord(begin, q.stream));
      calls[k]();
      gpu::check(cudaEventRecord(end, q.stream));
      gpu::check(cudaEventSynchronize(end));
      float ms = 0;
      gpu::check(cudaEventElapsedTime(&ms, begin, end));
      if (turn >= 0) seconds[k].push_back(1e-3 * ms);
    }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::vector<double> median;
  for (auto& s : seconds) {
    std::sort(s.begin(), s.end());
    median.push_back(s[s.size() / 2]);
  }
  return median;
}

/// y = op(A) x by cuBLAS, column-major, the same types (x of 16 bits where A is).
template <class T, class X, class V>
void by_cublas(cublasHandle_t h, bool transposed, int m, int n, const T* a, const X* x, V* y) {
  const auto op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const V one = 1, zero = 0;
  if constexpr (std::is_same_v<T, double>) check(cublasDgemv(h, op, m, n, &one, a, m, x, 1, &zero, y, 1));
  else if constexpr (std::is_same_v<T, float>) check(cublasSgemv(h, op, m, n, &one, a, m, x, 1, &zero, y, 1));
  else if constexpr (std::is_same_v<T, half>)
    check(cublasHSSgemvStridedBatched(h, op, m, n, &one, reinterpret_cast<const __half*>(a), m, 0,
                                      reinterpret_cast<const __half*>(x), 1, 0, &zero, y, 1, 0, 1));
  else
    check(cublasTSSgemvStridedBatched(h, op, m, n, &one, reinterpret_cast<const __nv_bfloat16*>(a), m, 0,
                                      reinterpret_cast<const __nv_bfloat16*>(x), 1, 0, &zero, y, 1, 0, 1));
}

const char* plan_text(const dense::gpu_plan& p) {
  static std::string text;
  text = dense::text_of(p);
  return text.c_str();
}

template <class T> void run_type(const char* name, const std::vector<shape2>& shapes, double ceiling, json& results) {
  using V = vector_value<T>;
  cublasHandle_t blas = nullptr;
  check(cublasCreate(&blas));
  const gpu::queue& q = gpu::current_queue();
  check(cublasSetStream(blas, q.stream));
  gpu_array<char> workspace(64 << 20);
  check(cublasSetWorkspace(blas, workspace.data(), workspace.byte_count()));
  for (const shape2 s : shapes) {
    if (s.rows * s.cols * index_t(sizeof(T)) > available_gpu_memory(q.ordinal) / 2) continue;
    gpu_array<T> a(s.rows * s.cols);
    gpu::check(cudaMemsetAsync(a.data(), 0, a.byte_count(), q.stream)); // zeros cost what other numbers cost
    gpu_array<V> x(std::max(s.rows, s.cols)), y(std::max(s.rows, s.cols));
    gpu::check(cudaMemsetAsync(x.data(), 0, x.byte_count(), q.stream));
    for (const bool by_rows : {false, true})
      for (const bool transposed : {false, true}) {
        const index_t terms = transposed ? s.rows : s.cols, outputs = transposed ? s.cols : s.rows;
        gemv_options options;
        options.transposed = transposed;
        options.where.what = device::kind::gpu;
        const dense_view<T> view{a.data(), s, by_rows ? s.cols : s.rows,
                                 by_rows ? storage_order::row_major : storage_order::col_major};
        const auto ours = [&] { gemv<T>(1, view, {x.data(), terms}, 0, {y.data(), outputs}, options); };
        // A row-major matrix is a column-major one, transposed.
        const auto rival = [&] {
          by_cublas<T>(blas, transposed != by_rows, int(by_rows ? s.cols : s.rows), int(by_rows ? s.rows : s.cols),
                       a.data(), reinterpret_cast<std::conditional_t<sizeof(T) == 2, const T*, const V*>>(x.data()),
                       y.data());
        };
        const auto seconds = compare_cold({ours, rival});
        const double bytes = double(a.byte_count()) + double(sizeof(V)) * double(s.rows + s.cols);
        const bool across = by_rows == transposed;
        const auto plan =
            across ? dense::plan_across(by_rows ? s.rows : s.cols, by_rows ? s.cols : s.rows, by_rows ? s.cols : s.rows,
                                        1, sizeof(T), 1, {q.multiprocessors})
                   : dense::plan_along(by_rows ? s.rows : s.cols, by_rows ? s.cols : s.rows, by_rows ? s.cols : s.rows,
                                       1, sizeof(T), sizeof(V), 1, {q.multiprocessors});
        std::printf("%9lld x %-9lld %-4s %s %s %9.1f us %5.0f GB/s %5.2f | cuBLAS %9.1f us, ratio %5.2f | %s\n",
                    static_cast<long long>(s.rows), static_cast<long long>(s.cols), name, by_rows ? "row" : "col",
                    transposed ? "t" : "n", seconds[0] * 1e6, bytes / seconds[0] * 1e-9, bytes / seconds[0] / ceiling,
                    seconds[1] * 1e6, seconds[1] / seconds[0], plan_text(plan));
        std::fflush(stdout);
        results.push_back({{"rows", s.rows},
                           {"cols", s.cols},
                           {"type", name},
                           {"layout", by_rows ? "row" : "col"},
                           {"op", transposed ? "t" : "n"},
                           {"bytes", bytes},
                           {"seconds", seconds[0]},
                           {"fraction", bytes / seconds[0] / ceiling},
                           {"cublas_seconds", seconds[1]},
                           {"plan", plan_text(plan)}});
      }
  }
  check(cublasDestroy(blas));
}

/// The shapes that docs/gemv.md has a table of.
std::vector<shape2> usual_shapes() {
  return {{512, 512},    {1024, 1024},  {2048, 2048},   {4096, 4096},   {8192, 8192},  {16384, 16384},
          {64, 4194304}, {4194304, 64}, {1000, 300000}, {300000, 1000}, {2, 33554432}, {33554432, 2},
          {8, 10000000}, {10000000, 8}, {10, 10000000}, {10000000, 10}};
}

} // namespace
} // namespace furrow::bench

int main(int argc, char** argv) {
  using namespace furrow;
  try {
    std::string out, only;
    std::vector<shape2> shapes;
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (word == "--json" && i + 1 < argc) out = argv[++i];
      else if (word == "--type" && i + 1 < argc) only = argv[++i];
      else if (word.find('x') != std::string::npos)
        shapes.push_back({std::atoll(word.c_str()), std::atoll(word.c_str() + word.find('x') + 1)});
    }
    if (shapes.empty()) shapes = bench::usual_shapes();
    const device gpu = parse_device("gpu");
    select_device(gpu);
    const auto status = inspect_gpus();
    const double ceiling = measure_read_ceiling(gpu);
    json all{{"device", status.gpus[0].name},
             {"driver", status.driver_version},
             {"runtime", status.runtime_version},
             {"version", version},
             {"ceiling_gbps", ceiling * 1e-9}};
    if (const char* commit = std::getenv("FURROW_COMMIT")) all["commit"] = commit;
    std::printf("%s, read ceiling %.0f GB/s\n", status.gpus[0].name.c_str(), ceiling * 1e-9);
    json& results = all["results"] = json::array();
    if (only.empty() || only == "f64") bench::run_type<double>("f64", shapes, ceiling, results);
    if (only.empty() || only == "f32") bench::run_type<float>("f32", shapes, ceiling, results);
    if (only.empty() || only == "f16") bench::run_type<furrow::half>("f16", shapes, ceiling, results);
    if (only.empty() || only == "bf16") bench::run_type<bfloat16>("bf16", shapes, ceiling, results);
    if (!out.empty()) std::ofstream(out) << all.dump(1) << '\n';
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_gemv: %s\n", e.what());
    return 4;
  }
}
