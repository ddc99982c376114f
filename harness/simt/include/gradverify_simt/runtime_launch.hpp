// SPDX-License-Identifier: Apache-2.0
// Launches by call. The rewriter takes casts to `void*` off the kernel, so that its parameters are
// known here.
#pragma once
#pragma GCC system_header

#include "gradverify_simt/runtime.hpp"
#include "gradverify_simt/sync.hpp"

// clang-format off
enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeAccessPolicyWindow = 1, cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributeProgrammaticEvent = 7, cudaLaunchAttributePriority = 8,
    cudaLaunchAttributeMemSyncDomain = 10, cudaLaunchAttributeLaunchCompletionEvent = 12,
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14,
};
enum cudaClusterSchedulingPolicy {
    cudaClusterSchedulingPolicyDefault, cudaClusterSchedulingPolicySpread,
    cudaClusterSchedulingPolicyLoadBalancing,
};
// clang-format on
union cudaLaunchAttributeValue {
    int cooperative;
    struct {
        unsigned x, y, z;
    } clusterDim;
    cudaClusterSchedulingPolicy clusterSchedulingPolicyPreference;
    int programmaticStreamSerializationAllowed;
    int priority;
    unsigned sharedMemCarveout;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

/// Records and returns the error of a call that the CPU device does not serve.
extern "C" cudaError_t gradverify_simt_refuse(int cuda_error, const char* what, const char* file,
                                              int line);

namespace gradverify::simt::unit {

template <class... Args>
void launch_with(const char* call, const LaunchConfig& config, void (*kernel)(Args...),
                 std::tuple<Args...> values) {
    std::apply([](auto&... each) { (hide_host_memory(each), ...); }, values);
    launch(call, config,
           [kernel, values] { std::apply([&](const auto&... each) { kernel(each...); }, values); });
}
template <class... Args>
cudaError_t launch_by_pointers(void (*kernel)(Args...), const LaunchConfig& config, void** args) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        const std::tuple<Args...> values(*static_cast<std::remove_reference_t<Args>*>(args[i])...);
        launch_with("cudaLaunchKernel", config, kernel, values);
    }(std::index_sequence_for<Args...>{});
    return cudaPeekAtLastError();
}
struct PlacedConfig {
    const cudaLaunchConfig_t& config;
    const char* file;
    int line;
    PlacedConfig(const cudaLaunchConfig_t* of_user, const char* of_file = __builtin_FILE(),
                 int of_line = __builtin_LINE())
        : config(*of_user), file(of_file), line(of_line) {}
};
inline cudaError_t refuse_untyped_kernel(const char* file, int line) {
    return gradverify_simt_refuse(cudaErrorNotSupported,
                                  "a launch of a kernel by way of a `void*` variable runs on cuda "
                                  "only: pass the kernel itself",
                                  file, line);
}

}  // namespace gradverify::simt::unit

#define GRADVERIFY_SIMT_LAUNCH(NAME, IS_COOPERATIVE)                                         \
    template <class... Args>                                                                 \
    inline cudaError_t NAME(void (*kernel)(Args...), dim3 grid, dim3 block, void** args,     \
                            std::size_t shared_bytes = 0, cudaStream_t stream = nullptr,     \
                            GRADVERIFY_SIMT_PLACE) {                                         \
        gradverify::simt::unit::LaunchConfig config(grid, block, shared_bytes, stream, file, \
                                                    line);                                   \
        config.is_cooperative = IS_COOPERATIVE;                                              \
        return gradverify::simt::unit::launch_by_pointers(kernel, config, args);             \
    }                                                                                        \
    inline cudaError_t NAME(const void*, dim3, dim3, void**, std::size_t = 0,                \
                            cudaStream_t = nullptr, GRADVERIFY_SIMT_PLACE) {                 \
        return gradverify::simt::unit::refuse_untyped_kernel(file, line);                    \
    }
GRADVERIFY_SIMT_LAUNCH(cudaLaunchKernel, false)
GRADVERIFY_SIMT_LAUNCH(cudaLaunchCooperativeKernel, true)
#undef GRADVERIFY_SIMT_LAUNCH

namespace gradverify::simt::unit {

/// The other attributes change no result.
inline LaunchConfig config_of(const PlacedConfig& at) {
    const cudaLaunchConfig_t& from = at.config;
    LaunchConfig config(from.gridDim, from.blockDim, from.dynamicSmemBytes, from.stream, at.file,
                        at.line);
    for (unsigned i = 0; i < from.numAttrs; ++i) {
        const cudaLaunchAttributeValue& value = from.attrs[i].val;
        if (from.attrs[i].id == cudaLaunchAttributeCooperative)
            config.is_cooperative = value.cooperative != 0;
        if (from.attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
            config.is_programmatic = value.programmaticStreamSerializationAllowed != 0;
        if (from.attrs[i].id == cudaLaunchAttributeClusterDimension)
            config.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
    }
    return config;
}

}  // namespace gradverify::simt::unit

template <class... Params, class... Args>
inline cudaError_t cudaLaunchKernelEx(gradverify::simt::unit::PlacedConfig at,
                                      void (*kernel)(Params...), Args&&... args) {
    using namespace gradverify::simt::unit;
    const std::tuple<Params...> values(static_cast<Args&&>(args)...);
    launch_with("cudaLaunchKernelEx", config_of(at), kernel, values);
    return cudaPeekAtLastError();
}
template <class... Params>
inline cudaError_t cudaLaunchKernelExC(gradverify::simt::unit::PlacedConfig at,
                                       void (*kernel)(Params...), void** args) {
    using namespace gradverify::simt::unit;
    return launch_by_pointers(kernel, config_of(at), args);
}
inline cudaError_t cudaLaunchKernelExC(gradverify::simt::unit::PlacedConfig at, const void*,
                                       void**) {
    return gradverify::simt::unit::refuse_untyped_kernel(at.file, at.line);
}

/// Clusters run one after another.
inline cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, auto, const cudaLaunchConfig_t*) {
    *clusters = 1;
    return cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, auto,
                                                        const cudaLaunchConfig_t*) {
    *size = 8;
    return cudaSuccess;
}
// What a kernel depends on is done when it begins, but who did not wait for it knows nothing.
inline void cudaGridDependencySynchronize() {
    gradverify::simt::unit::gradverify_simt_wait_for_grids();
}
inline void cudaTriggerProgrammaticLaunchCompletion() {
    gradverify::simt::unit::gradverify_simt_launch_dependents();
}
