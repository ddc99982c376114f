# SPDX-License-Identifier: Apache-2.0
# Finds PyTorch for the device cuda: where CMAKE_PREFIX_PATH or Torch_DIR say, or where python3 has it.
# Its own CMake package is not loaded, since that enables CMake's CUDA language.
include_guard(GLOBAL)

# Sets GRADVERIFY_TORCH_FLAGS, for nvcc, and GRADVERIFY_TORCH_LIBRARIES, in the cache; both are empty
# where no PyTorch has CUDA.
function(gradverify_find_torch)
    if(DEFINED CACHE{GRADVERIFY_TORCH_LIBRARIES})
        return()
    endif()
    set(python_include)
    set(folder)
    find_program(GRADVERIFY_TORCH_PYTHON NAMES python3)
    if(GRADVERIFY_TORCH_PYTHON)
        # Not `import torch`, which takes seconds, and fails where a library of a GPU is missing.
        execute_process(COMMAND "${GRADVERIFY_TORCH_PYTHON}" -c "
import importlib.util, sysconfig
print(sysconfig.get_paths()['include'])
print(sysconfig.get_config_var('LIBDIR') + '/' + sysconfig.get_config_var('LDLIBRARY'))
torch = importlib.util.find_spec('torch')
print(torch.submodule_search_locations[0] if torch else '')"
            OUTPUT_VARIABLE said ERROR_QUIET)
        string(REPLACE "\n" ";" said "${said};;;")
        list(GET said 0 python_include)
        list(GET said 1 python_library)
        list(GET said 2 folder)
    endif()
    find_path(GRADVERIFY_TORCH_INCLUDE c10/cuda/CUDAGuard.h
        HINTS "${Torch_DIR}/../../../include" PATHS "${folder}/include")
    get_filename_component(root "${GRADVERIFY_TORCH_INCLUDE}" DIRECTORY)
    set(libraries)
    foreach(name torch torch_cuda torch_cpu c10_cuda c10)
        find_library(GRADVERIFY_LIB${name} ${name} PATHS "${root}/lib" NO_DEFAULT_PATH)
        list(APPEND libraries "${GRADVERIFY_LIB${name}}")
    endforeach()
    set(flags)
    if(GRADVERIFY_TORCH_INCLUDE AND NOT libraries MATCHES "NOTFOUND")
        # As torch.utils.cpp_extension compiles an extension.
        set(flags -isystem "${GRADVERIFY_TORCH_INCLUDE}"
            -isystem "${GRADVERIFY_TORCH_INCLUDE}/torch/csrc/api/include"
            -D__CUDA_NO_HALF_OPERATORS__ -D__CUDA_NO_HALF_CONVERSIONS__
            -D__CUDA_NO_HALF2_OPERATORS__ -D__CUDA_NO_BFLOAT16_CONVERSIONS__
            -DTORCH_EXTENSION_NAME=gradverify_extension)
        set(config "${root}/share/cmake/Torch/TorchConfig.cmake")
        if(EXISTS "${config}")
            file(STRINGS "${config}" abi REGEX "_GLIBCXX_USE_CXX11_ABI=0")
            if(abi)
                list(APPEND flags -D_GLIBCXX_USE_CXX11_ABI=0)
            endif()
        endif()
        # torch/extension.h includes Python.h, and a module's functions call Python.
        find_library(GRADVERIFY_LIBtorch_python torch_python PATHS "${root}/lib" NO_DEFAULT_PATH)
        if(EXISTS "${python_include}/Python.h" AND GRADVERIFY_LIBtorch_python)
            list(APPEND flags -isystem "${python_include}")
            list(PREPEND libraries "${GRADVERIFY_LIBtorch_python}" "${python_library}")
        endif()
        # All of them: one that nothing calls registers the device.
        list(PREPEND libraries -Wl,--no-as-needed)
        message(STATUS "gradverify: PyTorch for the device cuda: ${root}")
    else()
        set(libraries)
    endif()
    set(GRADVERIFY_TORCH_FLAGS "${flags}" CACHE INTERNAL "For files of PyTorch extensions, on cuda")
    set(GRADVERIFY_TORCH_LIBRARIES "${libraries}" CACHE INTERNAL "PyTorch, on cuda")
endfunction()
