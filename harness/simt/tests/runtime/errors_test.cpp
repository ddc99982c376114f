// SPDX-License-Identifier: Apache-2.0
// An error ends its launch and names kernel and line; the next launch runs.
#include <doctest/doctest.h>

#include <stdexcept>

#include "harness/simt/tests/device_run.hpp"

using gradverify::simt::take_error;
using simt_test::check_contains;
using simt_test::contains;
using simt_test::in_every_order;
using simt_test::run;

namespace gradverify::simt::unit {
extern "C" void gradverify_simt_barrier(const char* file, int line);
}

namespace {

std::string error_of(const std::string& name, int count = 32) {
    run(name, count);
    const std::string error = take_error();
    CHECK(run("twice_each", 2) == std::vector<float>{0, 2});
    CHECK(take_error() == "");
    return error;
}

}  // namespace

TEST_CASE("a deadlock says which threads wait where") {
    in_every_order([] {
        check_contains(
            error_of("deadlock"),
            {"barriers.cu:107: launch of stuck", "deadlock in block (0, 0, 0) of 32 threads",
             "16 wait at the barrier of", "barriers.cu:102:", "16 wait at the warp collective of",
             "barriers.cu:104 with", "(16, 0, 0)", "mask 0xffffffff"});
    });
}

TEST_CASE("what a deadlock left behind serves the next launches") {
    for (int i = 0; i < 3; ++i) {
        run("sum_by_tree", 64, 256);
        run("deadlock", 32);
        CHECK(take_error() != "");
        CHECK(run("sum_by_tree", 64, 1024)[0] == 2016);
        CHECK(run("shuffle_in_halves", 32)[0] == 3);
        CHECK(take_error() == "");
    }
}

TEST_CASE("a barrier outside of a kernel is an error, also after a kernel with barriers") {
    using gradverify::simt::unit::gradverify_simt_barrier;
    CHECK_THROWS_WITH(gradverify_simt_barrier("file.cu", 3),
                      "file.cu:3: a barrier or a warp collective outside of a kernel");
    CHECK(run("sum_by_tree", 64, 256)[0] == 2016);
    CHECK_THROWS_AS(gradverify_simt_barrier("file.cu", 3), std::runtime_error);
    CHECK(run("sum_by_tree", 64, 256)[0] == 2016);
}

TEST_CASE("a failed device assertion ends the launch and names its line and thread") {
    check_contains(error_of("device_assert"),
                   {"runtime.cu:100: device assertion `data[threadIdx.x] < 3.0f` failed",
                    "thread (3, 0, 0)", "launch of check_value"});
}

TEST_CASE("a product of matrices needs a whole warp that asks for one product") {
    in_every_order([] {
        for (const std::string name :
             {"multiply_by_part_of_a_warp", "multiply_without_a_lane", "multiply_in_two_shapes"})
            check_contains(error_of(name, 64), {"mma_sync that not all 32 lanes of a warp reach"});
        check_contains(error_of("multiply_in_a_branch"),
                       {"deadlock", "16 wait at the warp collective of", "matrices.cu:201"});
    });
    check_contains(error_of("multiply_without_a_lane"), {"matrices.cu:201: mma_sync"});
}

TEST_CASE("a matrix in memory is aligned to 32 bytes, and its rows to 16") {
    check_contains(error_of("load_misaligned", 256),
                   {"matrices.cu:251: a matrix of wmma that does not begin at a multiple of 32"});
    check_contains(error_of("load_misaligned_rows", 256),
                   {"matrices.cu:251: a matrix of wmma whose ldm is no multiple of 16 bytes"});
    check_contains(error_of("store_misaligned", 512), {"matrices.cu:261: a matrix of wmma that"});
}

TEST_CASE("what only a GPU does is an error that names its line, and the next launch runs") {
    using gradverify::simt::error_is_cuda_only;
    const std::pair<const char*, const char*> errors[] = {
        {"texture_fetch", "served.cu:101: tex1Dfetch: a texture runs on cuda only"},
        {"texture_object", "served.cu:108: cudaCreateTextureObject: texture objects run on cuda"},
        {"graph", "served.cu:113: cudaStreamBeginCapture: graphs run on cuda only"},
        {"launch_in_kernel", "served.cu:131: a launch from within a kernel runs on cuda only"},
        {"untyped_kernel", "served.cu:148: a launch of a kernel by way of a `void*` variable runs"},
        {"inline_ptx", "runtime.cu:105: inline PTX runs on cuda only: \"vadd.u32"},
    };
    for (const auto& [launcher, text] : errors) {
        run(launcher, 32);
        CHECK(error_is_cuda_only());
        check_contains(error_of(launcher), {text});
        CHECK(!error_is_cuda_only());
    }
    run("grid_of_zero", 1);
    CHECK(!error_is_cuda_only());
    take_error();
}

TEST_CASE("an address of inline PTX must lie in the space that the instruction names") {
    check_contains(error_of("ptx_shared_of_global"),
                   {"spaces.cu:303: ", "names shared memory by an address that is not of it"});
    check_contains(error_of("ptx_shared_by_pointer"), {"spaces.cu:304: ", "names shared memory"});
    check_contains(error_of("ptx_global_of_shared"),
                   {"spaces.cu:305: ", "names global memory by an address of shared memory"});
    check_contains(error_of("ptx_matrix_rows"),
                   {"spaces.cu:314: a row of ldmatrix or stmatrix that is no multiple of 16"});
}

TEST_CASE("a library that runs on cuda only is declared, and its call is an error of its line") {
    CHECK(run("only_includes", 4) == std::vector<float>{0, 2, 4, 6});
    CHECK(take_error() == "");
    const std::pair<const char*, const char*> errors[] = {
        {"calls_cublas_lt",
         "declared.cu:101: cublasLtMatmul runs on cuda only: the cpu device has "
         "no cuBLASLt"},
        {"calls_cudnn", "declared.cu:111: cudnnCreateTensorDescriptor runs on cuda only"},
        {"calls_curand", "declared.cu:121: curandCreateGenerator runs on cuda only"},
        {"calls_cub", "declared.cu:141: cub::DeviceHistogram::HistogramEven runs on cuda only"},
        {"calls_thrust", "declared.cu:161: thrust::exclusive_scan_by_key runs on cuda only"},
        {"calls_driver", "declared.cu:181: cudaGetDriverEntryPoint: the driver's functions run on"},
    };
    for (const auto& [launcher, text] : errors) {
        CAPTURE(launcher);
        CHECK_THROWS_AS(run(launcher, 32), std::runtime_error);
        CHECK(gradverify::simt::error_is_cuda_only());
        check_contains(take_error(), {text});
    }
    check_contains(error_of("calls_libcudacxx"),
                   {"declared.cu:171: cuda::ptx::barrier_cluster_arrive runs on cuda only"});
}

TEST_CASE("a file behind CUDA_ONLY is left out on the cpu device, and the others are there") {
    const auto& all = simt_test::launchers();
    CHECK(!all.contains("cpu/tensor_cores"));
    CHECK(!all.contains("cpu-checked/tensor_cores"));
    CHECK(all.contains("cuda/tensor_cores") == all.contains("cuda/sum_by_tree"));
}

TEST_CASE("blocks wait for each other in a cooperative launch that fits, or it is an error") {
    in_every_order([] {
        CHECK(run("grid_that_fits", 1)[0] == 1);
        CHECK(take_error() == "");
        check_contains(error_of("grid_that_some_leave"),
                       {"3 of 5 blocks wait at the grid barrier of", "served.cu:162",
                        "the others have ended", "launch of"});
    });
    check_contains(error_of("grid_sync_in_plain_launch"),
                   {"served.cu:162", "needs a cooperative launch"});
    check_contains(error_of("grid_too_large"),
                   {"too many blocks in cooperative launch (cudaErrorCooperativeLaunchTooLarge)",
                    "129 blocks", "at most 128"});
    check_contains(error_of("spin_for_another_block"),
                   {"a thread spins for ever", "needs a cooperative launch"});
}

TEST_CASE("a launch beyond the limits is refused with CUDA's error and its reason") {
    check_contains(error_of("block_too_large"),
                   {"launch of nothing: invalid configuration argument "
                    "(cudaErrorInvalidConfiguration): block (1025, 1, 1) exceeds 1024 threads"});
    check_contains(error_of("block_too_deep"), {"(1, 1, 65)"});
    check_contains(error_of("grid_of_zero"), {"has a zero"});
    check_contains(error_of("grid_too_high"), {"(1, 65536, 1)"});
    check_contains(error_of("grid_too_wide"), {"2147483648"});
    CHECK_NOTHROW(error_of("last_error_after_refusal"));
}

TEST_CASE("dynamic shared memory beyond 48 KiB must be asked for, and is at most 227 KiB") {
    check_contains(
        error_of("too_much_shared"),
        {"invalid argument (cudaErrorInvalidValue): 49153 bytes", "cudaFuncSetAttribute"});
    CHECK_THROWS_WITH_AS(run("too_much_shared_asked", 1), "invalid argument", std::runtime_error);
    CHECK(contains(take_error(), "232448"));
}

TEST_CASE("a launcher may ask for shared memory in vain, and do without") {
    CHECK(error_of("does_without_too_much_shared") == "");
    check_contains(error_of("too_much_shared_then_too_many_threads"), {"exceeds 1024 threads"});
}

TEST_CASE("the first error is kept until it is taken") {
    run("grid_of_zero", 1);
    run("block_too_deep", 1);
    CHECK(contains(take_error(), "has a zero"));
    CHECK(take_error() == "");
}
