# SPDX-License-Identifier: Apache-2.0
# CUDA's headers that have nothing of their own on the CPU device are written into the build tree:
# each includes the header of include/ that has its names.
set(GRADVERIFY_SIMT_GENERATED "${CMAKE_CURRENT_BINARY_DIR}/cuda_headers")
file(GLOB_RECURSE gradverify_simt_stale RELATIVE "${GRADVERIFY_SIMT_GENERATED}"
     "${GRADVERIFY_SIMT_GENERATED}/*")

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
    list(REMOVE_ITEM gradverify_simt_stale ${ARGN})
    set(gradverify_simt_stale "${gradverify_simt_stale}" PARENT_SCOPE)
endfunction()

# gradverify_simt_std(NAME...): cuda/std/NAME is the host's NAME.
function(gradverify_simt_std)
    foreach(name IN LISTS ARGN)
        string(REPLACE "atomic" "cstddef" host_name "${name}")  # has atomics of its own
        file(CONFIGURE OUTPUT "${GRADVERIFY_SIMT_GENERATED}/cuda/std/${name}" @ONLY CONTENT
"// Stands for CUDA's header of this name.
#pragma once
#pragma GCC system_header

#include <${host_name}>

#include \"gradverify_simt/cuda_std.hpp\"
")
        list(REMOVE_ITEM gradverify_simt_stale cuda/std/${name})
    endforeach()
    set(gradverify_simt_stale "${gradverify_simt_stale}" PARENT_SCOPE)
endfunction()
gradverify_simt_std(algorithm array atomic bit bitset cassert cfloat chrono climits cmath complex
    concepts cstddef cstdint cstdlib cstring functional initializer_list iterator limits memory
    numbers numeric optional ratio span string_view tuple type_traits utility variant version)

# The forced include has declared what these would; a file that includes one by itself gets the same.
gradverify_simt_forwards(gradverify_simt/forced.hpp
    builtin_types.h
    channel_descriptor.h
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
gradverify_simt_forwards(gradverify_simt/driver.hpp cuda.h cudaTypedefs.h)
gradverify_simt_forwards(cub/cub.cuh
    cub/block/block_reduce.cuh
    cub/warp/warp_reduce.cuh
    cub/warp/warp_scan.cuh)
gradverify_simt_forwards(cub/gradverify_common.cuh
    cub/config.cuh
    cub/thread/thread_operators.cuh)
gradverify_simt_forwards(cub/gradverify_iterators.cuh
    cub/iterator/constant_input_iterator.cuh
    cub/iterator/counting_input_iterator.cuh
    cub/iterator/transform_input_iterator.cuh)
gradverify_simt_forwards(cub/gradverify_utilities.cuh
    cub/block/block_raking_layout.cuh
    cub/util_arch.cuh
    cub/util_macro.cuh
    cub/util_ptx.cuh
    cub/util_type.cuh)
gradverify_simt_forwards(cublas_v2.h cublas_api.h)
gradverify_simt_forwards(cuda_bf16.h cuda_bf16.hpp)
gradverify_simt_forwards(cuda_fp16.h cuda_fp16.hpp)
gradverify_simt_forwards(cuda_pipeline.h cuda_pipeline_primitives.h)
gradverify_simt_forwards(curand_kernel.h
    curand_normal.h
    curand_philox4x32_x.h
    curand_uniform.h)
gradverify_simt_forwards(gradverify_simt/wmma.hpp mma.h)
gradverify_simt_forwards(nvtx3/nvToolsExt.h nvToolsExt.h nvtx3/nvToolsExtCudaRt.h)

# What runs on cuda only is declared (gradverify_simt/cuda_only.hpp).
gradverify_simt_forwards(gradverify_libraries/cub_device.hpp
    cub/device/device_adjacent_difference.cuh
    cub/device/device_for.cuh
    cub/device/device_histogram.cuh
    cub/device/device_memcpy.cuh
    cub/device/device_merge_sort.cuh
    cub/device/device_partition.cuh
    cub/device/device_radix_sort.cuh
    cub/device/device_reduce.cuh
    cub/device/device_run_length_encode.cuh
    cub/device/device_scan.cuh
    cub/device/device_segmented_radix_sort.cuh
    cub/device/device_segmented_reduce.cuh
    cub/device/device_segmented_sort.cuh
    cub/device/device_select.cuh
    cub/device/device_transform.cuh
    cub/util_allocator.cuh)
gradverify_simt_forwards(gradverify_simt/cuda_atomic.hpp cuda/atomic)
gradverify_simt_forwards(gradverify_simt/libcudacxx.hpp
    cuda/barrier
    cuda/pipeline
    cuda/ptx)
gradverify_simt_forwards(gradverify_libraries/thrust.hpp
    thrust/binary_search.h
    thrust/copy.h
    thrust/count.h
    thrust/device_malloc.h
    thrust/device_free.h
    thrust/device_ptr.h
    thrust/device_vector.h
    thrust/execution_policy.h
    thrust/extrema.h
    thrust/fill.h
    thrust/find.h
    thrust/for_each.h
    thrust/functional.h
    thrust/gather.h
    thrust/generate.h
    thrust/host_vector.h
    thrust/inner_product.h
    thrust/iterator/constant_iterator.h
    thrust/iterator/counting_iterator.h
    thrust/iterator/permutation_iterator.h
    thrust/iterator/transform_iterator.h
    thrust/iterator/zip_iterator.h
    thrust/logical.h
    thrust/pair.h
    thrust/partition.h
    thrust/random.h
    thrust/reduce.h
    thrust/remove.h
    thrust/replace.h
    thrust/reverse.h
    thrust/scan.h
    thrust/scatter.h
    thrust/sequence.h
    thrust/sort.h
    thrust/swap.h
    thrust/system/cuda/execution_policy.h
    thrust/tabulate.h
    thrust/transform.h
    thrust/transform_reduce.h
    thrust/transform_scan.h
    thrust/tuple.h
    thrust/uninitialized_fill.h
    thrust/unique.h)

# PyTorch's names, of which this is a shim (gradverify_torch/), since a libtorch without a GPU says
# of each tensor that it is not on one.
gradverify_simt_forwards(gradverify_torch/numbers.hpp
    c10/util/BFloat16.h
    c10/util/Half.h
    c10/util/complex.h)
gradverify_simt_forwards(gradverify_torch/cuda.hpp
    ATen/cuda/ApplyGridUtils.cuh
    ATen/cuda/Atomic.cuh
    ATen/cuda/CUDAContext.h
    ATen/cuda/CUDAContextLight.h
    ATen/cuda/CUDAGeneratorImpl.h
    ATen/cuda/CUDAGraphsUtils.cuh
    ATen/cuda/CUDAUtils.h
    ATen/cuda/DeviceUtils.cuh
    ATen/cuda/Exceptions.h
    ATen/cuda/PhiloxCudaState.h
    ATen/cuda/PhiloxUtils.cuh
    ATen/cuda/detail/KernelUtils.h
    ATen/cuda/detail/UnpackRaw.cuh
    c10/core/Device.h
    c10/core/DeviceGuard.h
    c10/core/DeviceType.h
    c10/core/ScalarType.h
    c10/cuda/CUDAException.h
    c10/cuda/CUDAFunctions.h
    c10/cuda/CUDAGuard.h
    c10/cuda/CUDAMacros.h
    c10/cuda/CUDAStream.h
    c10/macros/Macros.h
    c10/util/ArrayRef.h
    c10/util/Exception.h
    c10/util/Optional.h
    c10/util/irange.h)
gradverify_simt_forwards(gradverify_torch/torch.hpp
    ATen/ATen.h
    ATen/AccumulateType.h
    ATen/CUDAGeneratorImpl.h
    ATen/Context.h
    ATen/DeviceGuard.h
    ATen/Dispatch.h
    ATen/Functions.h
    ATen/OpMathType.h
    ATen/Tensor.h
    ATen/TensorUtils.h
    ATen/Utils.h
    ATen/ceil_div.h
    ATen/core/Tensor.h
    ATen/core/TensorAccessor.h
    c10/core/Scalar.h
    c10/core/TensorOptions.h
    pybind11/pybind11.h
    pybind11/stl.h
    torch/all.h
    torch/cuda.h
    torch/extension.h
    torch/library.h
    torch/nn/functional.h
    torch/python.h
    torch/script.h
    torch/torch.h
    torch/types.h
    torch/version.h)

# An older version's, in a build tree that it made, would be found first.
foreach(name IN LISTS gradverify_simt_stale)
    file(REMOVE "${GRADVERIFY_SIMT_GENERATED}/${name}")
endforeach()
