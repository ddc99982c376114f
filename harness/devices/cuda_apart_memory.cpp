// SPDX-License-Identifier: Apache-2.0
#include "harness/devices/cuda_apart_memory.hpp"

#include <algorithm>

#include "harness/base/cuda_check.hpp"
#include "harness/devices/cuda_driver.hpp"

namespace gradverify::detail {

namespace {

// An index of 32 bits into elements of 8 bytes goes 32 GiB astray at most.
constexpr std::size_t window_bytes = std::size_t{1} << 37;
// Below this, memory is made for twice as much as is asked for.
constexpr std::size_t dear_bytes = std::size_t{1} << 30;

#define GRADVERIFY_DRIVER_CALL(NAME, ...) \
    check_driver(of_driver<decltype(NAME)>(#NAME)(__VA_ARGS__), #NAME)

}  // namespace

std::byte* ApartMemory::ending(std::size_t bytes) {
    if (bytes > mapped_ || mapped_ == 0)
        map(bytes < dear_bytes ? std::max(2 * bytes, std::size_t{1}) : bytes);
    const CUdeviceptr begin = window_ + window_bytes / 2 + (mapped_ - bytes);
    return reinterpret_cast<std::byte*>(begin);  // NOLINT(performance-no-int-to-ptr)
}

void ApartMemory::map(std::size_t bytes) {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    GRADVERIFY_CUDA_CHECK(cudaGetDevice(&kind.location.id));
    std::size_t unit = 0;
    GRADVERIFY_DRIVER_CALL(cuMemGetAllocationGranularity, &unit, &kind,
                           CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CUdeviceptr window = window_;
    if (window == 0) GRADVERIFY_DRIVER_CALL(cuMemAddressReserve, &window, window_bytes, 0, 0, 0);
    window_ = window;
    const CUdeviceptr begin = window + window_bytes / 2;
    if (mapped_ > 0) GRADVERIFY_DRIVER_CALL(cuMemUnmap, begin, mapped_);
    mapped_ = 0;
    const std::size_t size = (bytes + unit - 1) / unit * unit;
    CUmemGenericAllocationHandle memory = 0;
    GRADVERIFY_DRIVER_CALL(cuMemCreate, &memory, size, &kind, 0);
    // Mapped memory outlives its handle.
    const CUresult mapped = of_driver<decltype(cuMemMap)>("cuMemMap")(begin, size, 0, memory, 0);
    GRADVERIFY_DRIVER_CALL(cuMemRelease, memory);
    check_driver(mapped, "cuMemMap");
    mapped_ = size;
    const CUmemAccessDesc access{kind.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    GRADVERIFY_DRIVER_CALL(cuMemSetAccess, begin, size, &access, 1);
}

}  // namespace gradverify::detail
