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

# gradverify_simt_forwards_in(HEADER FOLDER ENDING NAME...): of each FOLDER/NAME.ENDING.
function(gradverify_simt_forwards_in header folder ending)
    list(TRANSFORM ARGN PREPEND "${folder}/")
    list(TRANSFORM ARGN APPEND ".${ending}")
    gradverify_simt_forwards(${header} ${ARGN})
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
    builtin_types.h channel_descriptor.h cuda_device_runtime_api.h cuda_profiler_api.h
    cuda_runtime.h cuda_runtime_api.h device_atomic_functions.h device_double_functions.h
    device_functions.h device_launch_parameters.h driver_functions.h driver_types.h host_defines.h
    math_functions.h sm_20_intrinsics.h sm_30_intrinsics.h sm_32_intrinsics.h sm_35_intrinsics.h
    sm_61_intrinsics.h surface_types.h texture_indirect_functions.h texture_types.h
    vector_functions.h vector_types.h)
gradverify_simt_forwards(gradverify_simt/driver.hpp cuda.h cudaTypedefs.h)
gradverify_simt_forwards(cub/cub.cuh
    cub/block/block_reduce.cuh cub/warp/warp_reduce.cuh cub/warp/warp_scan.cuh)
gradverify_simt_forwards(cub/gradverify_common.cuh cub/config.cuh cub/thread/thread_operators.cuh)
gradverify_simt_forwards(cub/gradverify_iterators.cuh
    cub/iterator/constant_input_iterator.cuh cub/iterator/counting_input_iterator.cuh
    cub/iterator/transform_input_iterator.cuh)
gradverify_simt_forwards_in(cub/gradverify_utilities.cuh cub cuh
    util_arch util_macro util_ptx util_type)
gradverify_simt_forwards(cub/gradverify_utilities.cuh cub/block/block_raking_layout.cuh)
gradverify_simt_forwards(cublas_v2.h cublas_api.h)
gradverify_simt_forwards(cuda_bf16.h cuda_bf16.hpp)
gradverify_simt_forwards(cuda_fp16.h cuda_fp16.hpp)
gradverify_simt_forwards(cuda_pipeline.h cuda_pipeline_primitives.h)
gradverify_simt_forwards(curand_kernel.h curand_normal.h curand_philox4x32_x.h curand_uniform.h)
gradverify_simt_forwards(gradverify_simt/wmma.hpp mma.h)
gradverify_simt_forwards(nvtx3/nvToolsExt.h nvToolsExt.h nvtx3/nvToolsExtCudaRt.h)

# What runs on cuda only is declared (gradverify_simt/cuda_only.hpp).
gradverify_simt_forwards_in(gradverify_libraries/cub_device.hpp cub/device cuh
    device_adjacent_difference device_for device_histogram device_memcpy device_merge_sort
    device_partition device_radix_sort device_reduce device_run_length_encode device_scan
    device_segmented_radix_sort device_segmented_reduce device_segmented_sort device_select
    device_transform)
gradverify_simt_forwards(gradverify_libraries/cub_device.hpp cub/util_allocator.cuh)
gradverify_simt_forwards(gradverify_simt/cuda_atomic.hpp cuda/atomic)
gradverify_simt_forwards(gradverify_simt/libcudacxx.hpp cuda/barrier cuda/pipeline cuda/ptx)
gradverify_simt_forwards_in(gradverify_libraries/thrust.hpp thrust h
    binary_search copy count device_malloc device_free device_ptr device_vector execution_policy
    extrema fill find for_each functional gather generate host_vector inner_product logical pair
    partition random reduce remove replace reverse scan scatter sequence sort swap tabulate
    transform transform_reduce transform_scan tuple uninitialized_fill unique)
gradverify_simt_forwards_in(gradverify_libraries/thrust.hpp thrust/iterator h
    constant_iterator counting_iterator permutation_iterator transform_iterator zip_iterator)
gradverify_simt_forwards(gradverify_libraries/thrust.hpp thrust/system/cuda/execution_policy.h)

# PyTorch's names, of which this is a shim (gradverify_torch/), since a libtorch without a GPU says
# of each tensor that it is not on one. What few headers of PyTorch have, no other has here.
gradverify_simt_forwards(gradverify_torch/numbers.hpp
    c10/util/BFloat16.h c10/util/Half.h c10/util/complex.h)
gradverify_simt_forwards(gradverify_torch/numeric_limits.hpp ATen/cuda/NumericLimits.cuh)
gradverify_simt_forwards(gradverify_torch/kernel_loop.hpp ATen/cuda/detail/KernelUtils.h)
gradverify_simt_forwards(gradverify_torch/device_utils.hpp
    ATen/cuda/DeviceUtils.cuh ATen/native/cuda/block_reduce.cuh)
gradverify_simt_forwards(gradverify_torch/atomic_add.hpp ATen/cuda/Atomic.cuh THC/THCAtomics.cuh)
gradverify_simt_forwards(gradverify_torch/index_utils.hpp
    ATen/CollapseDims.h ATen/cuda/CUDAApplyUtils.cuh ATen/cuda/detail/IndexUtils.cuh
    ATen/cuda/detail/TensorInfo.cuh ATen/native/CanUse32BitIndexMath.h)
gradverify_simt_forwards_in(gradverify_torch/cuda.hpp ATen/cuda cuh
    ApplyGridUtils CUDAGraphsUtils PhiloxUtils)
gradverify_simt_forwards_in(gradverify_torch/cuda.hpp ATen/cuda h
    CUDAContext CUDAContextLight CUDAGeneratorImpl CUDAUtils Exceptions PhiloxCudaState)
gradverify_simt_forwards_in(gradverify_torch/cuda.hpp c10/core h
    Device DeviceGuard DeviceType Layout MemoryFormat ScalarType)
gradverify_simt_forwards_in(gradverify_torch/cuda.hpp c10/cuda h
    CUDAException CUDAFunctions CUDAGuard CUDAMacros CUDAStream)
gradverify_simt_forwards_in(gradverify_torch/cuda.hpp c10/util h ArrayRef Exception Optional irange)
gradverify_simt_forwards(gradverify_torch/cuda.hpp
    ATen/cuda/detail/UnpackRaw.cuh c10/macros/Macros.h)
gradverify_simt_forwards_in(gradverify_torch/torch.hpp ATen h
    ATen AccumulateType ArrayRef CUDAGeneratorImpl Context Device DeviceGuard Dispatch Functions
    Generator OpMathType Scalar ScalarType Tensor TensorUtils Utils ceil_div)
gradverify_simt_forwards_in(gradverify_torch/torch.hpp torch h
    all cuda extension library python script torch types version)
gradverify_simt_forwards(gradverify_torch/torch.hpp
    ATen/core/Tensor.h ATen/core/TensorAccessor.h ATen/core/TensorBase.h c10/core/Scalar.h
    c10/core/TensorOptions.h pybind11/functional.h pybind11/pybind11.h pybind11/stl.h
    torch/csrc/utils/pybind.h torch/nn/functional.h torch/serialize/tensor.h)

# An older version's, in a build tree that it made, would be found first.
foreach(name IN LISTS gradverify_simt_stale)
    file(REMOVE "${GRADVERIFY_SIMT_GENERATED}/${name}")
endforeach()
