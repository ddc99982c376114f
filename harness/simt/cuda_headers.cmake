# SPDX-License-Identifier: Apache-2.0
# CUDA's headers that have nothing of their own on the CPU device are written into the build tree:
# each includes the header of include/ that serves its names, or says that none does.
set(GRADVERIFY_SIMT_GENERATED "${CMAKE_CURRENT_BINARY_DIR}/include")

# gradverify_simt_forwards(HEADER NAME...): a file that includes one of NAME gets HEADER.
function(gradverify_simt_forwards header)
    foreach(name IN LISTS ARGN)
        file(CONFIGURE OUTPUT "${GRADVERIFY_SIMT_GENERATED}/${name}" @ONLY CONTENT
"// Stands for CUDA's header of this name.
#pragma once
#pragma GCC system_header

#include \"${header}\"
")
    endforeach()
endfunction()

# gradverify_simt_refuses(WHAT NAME...): a file that includes one of NAME, a part of WHAT, fails.
function(gradverify_simt_refuses what)
    foreach(name IN LISTS ARGN)
        file(CONFIGURE OUTPUT "${GRADVERIFY_SIMT_GENERATED}/${name}" @ONLY CONTENT
"// Stands for CUDA's header of this name, which the CPU device does not serve.
#pragma once

#error \"gradverify: <${name}> (${what}) runs on cuda only; name this file behind CUDA_ONLY in \
gradverify_add_kernels, and the rest of the target still builds for the cpu device\"
")
    endforeach()
endfunction()

# The forced include has declared what these would; a file that includes one by itself gets the same.
gradverify_simt_forwards(gradverify_simt/forced.hpp
    builtin_types.h
    channel_descriptor.h
    cuda.h
    cuda_device_runtime_api.h
    cuda_profiler_api.h
    cuda_runtime.h
    cuda_runtime_api.h
    device_atomic_functions.h
    device_double_functions.h
    device_functions.h
    device_launch_parameters.h
    driver_functions.h
    driver_types.h
    host_defines.h
    math_functions.h
    sm_20_intrinsics.h
    sm_30_intrinsics.h
    sm_32_intrinsics.h
    sm_35_intrinsics.h
    sm_61_intrinsics.h
    surface_types.h
    texture_indirect_functions.h
    texture_types.h
    vector_functions.h
    vector_types.h)
gradverify_simt_forwards(cub/cub.cuh
    cub/block/block_reduce.cuh
    cub/warp/warp_reduce.cuh
    cub/warp/warp_scan.cuh)
gradverify_simt_forwards(cuda_bf16.h cuda_bf16.hpp)
gradverify_simt_forwards(cuda_fp16.h cuda_fp16.hpp)
gradverify_simt_forwards(cuda_pipeline.h cuda_pipeline_primitives.h)
gradverify_simt_forwards(curand_kernel.h
    curand_normal.h
    curand_philox4x32_x.h
    curand_uniform.h)
gradverify_simt_forwards(gradverify_simt/mma.hpp mma.h)
gradverify_simt_forwards(nvtx3/nvToolsExt.h nvToolsExt.h)

gradverify_simt_refuses("algorithms for the whole device"
    cub/device/device_for.cuh
    cub/device/device_histogram.cuh
    cub/device/device_radix_sort.cuh
    cub/device/device_reduce.cuh
    cub/device/device_scan.cuh
    cub/device/device_segmented_reduce.cuh
    cub/device/device_select.cuh
    thrust/copy.h
    thrust/device_ptr.h
    thrust/device_vector.h
    thrust/execution_policy.h
    thrust/fill.h
    thrust/for_each.h
    thrust/functional.h
    thrust/host_vector.h
    thrust/inner_product.h
    thrust/reduce.h
    thrust/scan.h
    thrust/sequence.h
    thrust/sort.h
    thrust/transform.h
    thrust/transform_reduce.h)
gradverify_simt_refuses(cuBLASLt cublasLt.h)
gradverify_simt_refuses(cuDNN cudnn.h)
gradverify_simt_refuses("curand's host interface" curand.h)
gradverify_simt_refuses(libcu++ cuda/atomic)
gradverify_simt_refuses("asynchronous barriers" cuda/barrier)
gradverify_simt_refuses("asynchronous copies in stages" cuda/pipeline)
gradverify_simt_refuses(PTX cuda/ptx)
