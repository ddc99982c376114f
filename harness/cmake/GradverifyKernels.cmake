# SPDX-License-Identifier: Apache-2.0
# gradverify_add_executable(<target> <file>... [KERNELS <file>...] [CUDA_ONLY <file.cu>...]
# [CPU_HEADERS <folder>...] [TORCH] [APART <file>...]): makes gradverify over these files: .cu files and
# those behind KERNELS (an extension's .cpp) are kernels, as in one call of gradverify_add_kernels, others
# (operators) sources. APART: files of launchers that nobody vouches for, none of which registers a
# kernel. They and the kernels make a program of their own, <target>-launchers, which workers start;
# <target> has declarations and operators alone (docs/untrusted.md).
#
# gradverify_add_kernels(<target> <file.cu>... [CUDA_ONLY <file.cu>...] [CPU_HEADERS <folder>...]
# [TORCH]): builds each file for every device, those behind CUDA_ONLY for the device cuda alone, and adds it to
# the target. The files of one call make one unit per device with local definitions alone, so variants
# of an inline helper are neither merged nor reported as duplicates. On the cpu device headers are
# looked for in CPU_HEADERS, then among ours for CUDA's names, then in the target's directories.
#
# Their language level is the target's CUDA_STANDARD, or CXX_STANDARD, or 17; C++20 where they include
# gradverify's headers, or the compiler is clang. __CUDA_ARCH__ is that of GRADVERIFY_CUDA_ARCHITECTURE
# in device code, on every device, and undefined in host code.
#
# TORCH: the files belong to a PyTorch extension. For the device cuda they are built with PyTorch, or
# not at all where there is none. The cpu device has PyTorch's names without being asked.
#
# The files see the target's include directories and definitions (but not its compile options), and
# GRADVERIFY_UNIT_DEVICE as "cpu", "cpu-checked" (the cpu device again, with every memory access
# reported to its race detector) or "cuda". The target must be of the calling directory, and an
# executable, a shared library, or an OBJECT library that is linked by name.
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/GradverifyTorch.cmake")

set(GRADVERIFY_CUDA_ARCHITECTURE "sm_90" CACHE STRING "nvcc's -arch for kernel files")
set(GRADVERIFY_CPU_FLAGS "" CACHE STRING "More compiler flags for kernel files on the cpu device")
set(GRADVERIFY_CUDA_FLAGS "" CACHE STRING "More nvcc flags for kernel files")
option(GRADVERIFY_PRECOMPILE "Precompile the headers that most files begin with" ON)
option(GRADVERIFY_CPU "Build kernels for the device cpu; without the device cuda always" ON)
option(GRADVERIFY_CHECKED_VARIANT "Build kernels for the cpu device's race detector too" ON)
find_program(GRADVERIFY_LD NAMES ld.bfd ld REQUIRED)
find_program(GRADVERIFY_OBJCOPY NAMES objcopy REQUIRED)
find_program(GRADVERIFY_NM NAMES nm REQUIRED)
# harness/simt/CMakeLists.txt or the installed package sets this. All variables that the functions
# read are in the cache, since they are called from directories above ours.
set(GRADVERIFY_SIMT_INCLUDE "" CACHE INTERNAL "Folders of CUDA's headers on the cpu")
# The folder of our headers, if it has none of the user's: then there are no warnings from it.
set(GRADVERIFY_SYSTEM_INCLUDE "" CACHE INTERNAL "Headers of an installed gradverify")
set(GRADVERIFY_APART_STUBS "${CMAKE_CURRENT_LIST_DIR}/apart_stubs.sh" CACHE INTERNAL
    "Writes what stands for the functions of files that are kept apart")
set(GRADVERIFY_CPU_STEP "${CMAKE_CURRENT_LIST_DIR}/cpu_step.sh" CACHE INTERNAL
    "Names the file in what a compiler says of it")
set(GRADVERIFY_CPU_PREPROCESS "${CMAKE_CURRENT_LIST_DIR}/cpu_preprocess.sh" CACHE INTERNAL
    "Preprocesses a kernel file")
set(GRADVERIFY_LANGUAGE_LEVEL "${CMAKE_CURRENT_LIST_DIR}/language_level.sh" CACHE INTERNAL
    "Says nvcc the language level of a kernel file")

function(gradverify_add_executable target)
    cmake_parse_arguments(PARSE_ARGV 1 files "TORCH" "" "KERNELS;CUDA_ONLY;CPU_HEADERS;APART")
    set(sources ${files_UNPARSED_ARGUMENTS})
    set(kernels ${sources})
    list(FILTER kernels INCLUDE REGEX "\\.cu$")
    list(APPEND kernels ${files_KERNELS})
    list(FILTER sources EXCLUDE REGEX "\\.cu$")
    if(NOT sources AND NOT kernels AND NOT files_CUDA_ONLY)
        message(FATAL_ERROR "gradverify_add_executable(${target}): no file given")
    endif()
    add_executable(${target} ${sources})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${target} PRIVATE gradverify::main)
    set(torch)
    if(files_TORCH)
        set(torch TORCH)
    endif()
    if(files_APART)
        set(launchers ${target}-launchers)
        add_executable(${launchers})
        set_target_properties(${launchers} PROPERTIES LINKER_LANGUAGE CXX)
        target_link_libraries(${launchers} PRIVATE gradverify::apart)
        target_link_libraries(${target} PRIVATE gradverify::simt)
        add_dependencies(${target} ${launchers})
        gradverify_add_kernels(${launchers} ${kernels} ${torch} CUDA_ONLY ${files_CUDA_ONLY}
            CPU_HEADERS ${files_CPU_HEADERS} APART ${files_APART} DECLARED_IN ${target})
    elseif(kernels OR files_CUDA_ONLY)
        gradverify_add_kernels(${target} ${kernels} ${torch}
            CUDA_ONLY ${files_CUDA_ONLY} CPU_HEADERS ${files_CPU_HEADERS})
    endif()
endfunction()

function(gradverify_add_kernels target)
    if(NOT TARGET ${target})
        message(FATAL_ERROR "gradverify_add_kernels: no target `${target}`")
    endif()
    # APART: of these files <DECLARED_IN> gets stubs alone.
    cmake_parse_arguments(PARSE_ARGV 1 kernels "TORCH" "DECLARED_IN" "CUDA_ONLY;CPU_HEADERS;APART")
    list(TRANSFORM kernels_APART REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
    set(sources ${kernels_UNPARSED_ARGUMENTS} ${kernels_APART})
    if(NOT sources AND NOT kernels_CUDA_ONLY)
        message(FATAL_ERROR "gradverify_add_kernels(${target}): no .cu file given")
    endif()
    if(kernels_CUDA_ONLY AND NOT GRADVERIFY_NVCC)
        list(JOIN kernels_CUDA_ONLY ", " names)
        message(STATUS "gradverify: ${target}: not built, as the kernels in them run on cuda only "
            "and there is no CUDA toolkit: ${names}")
    endif()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
        message(FATAL_ERROR "gradverify_add_kernels(${target}): the linker drops kernels of a "
            "static library; make ${target} an OBJECT library, or an executable")
    endif()
    set(cpu_headers)
    foreach(folder IN LISTS kernels_CPU_HEADERS)
        get_filename_component(folder "${folder}" ABSOLUTE)
        if(NOT IS_DIRECTORY "${folder}")
            message(FATAL_ERROR "gradverify_add_kernels(${target}): no folder ${folder}")
        endif()
        list(APPEND cpu_headers "${folder}")
    endforeach()
    # A unit is named by its first file, so that another unit does not rebuild this one.
    set(all ${sources} ${kernels_CUDA_ONLY})
    list(GET all 0 first)
    get_filename_component(first "${first}" ABSOLUTE)
    file(RELATIVE_PATH first "${CMAKE_CURRENT_SOURCE_DIR}" "${first}")
    string(MAKE_C_IDENTIFIER "${first}" unit)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/gradverify_units/${target}/${unit}")
    file(MAKE_DIRECTORY "${folder}")
    target_link_libraries(${target} PRIVATE gradverify::simt)

    set(unit_flags "${folder}/unit.flags")
    gradverify_write_unit_flags(${target} "${unit_flags}" ${all})

    set(devices)
    if(GRADVERIFY_CPU OR NOT GRADVERIFY_NVCC)
        set(devices cpu)
        if(GRADVERIFY_CHECKED_VARIANT)
            list(APPEND devices cpu-checked)
        endif()
    endif()
    set(torch_flags)
    if(kernels_TORCH AND GRADVERIFY_NVCC)
        gradverify_find_torch()
    endif()
    if(kernels_TORCH AND GRADVERIFY_NVCC AND NOT GRADVERIFY_TORCH_LIBRARIES)
        set(severity STATUS)
        if(NOT devices)
            set(severity FATAL_ERROR)
        endif()
        message(${severity} "gradverify: ${target}: for the device cpu only, as no PyTorch with CUDA "
            "was found by `python3` or in CMAKE_PREFIX_PATH: ${first}")
    elseif(GRADVERIFY_NVCC)
        list(APPEND devices cuda)
        foreach(linked ${target} ${kernels_DECLARED_IN})
            gradverify_link_cuda_runtime(${linked})
        endforeach()
        if(kernels_TORCH)
            set(torch_flags ${GRADVERIFY_TORCH_FLAGS})
            foreach(linked ${target} ${kernels_DECLARED_IN})
                target_link_libraries(${linked} PRIVATE ${GRADVERIFY_TORCH_LIBRARIES})
            endforeach()
        endif()
    endif()
    set(to -c)
    if(GRADVERIFY_CUDA STREQUAL "COMPILE")
        set(to -cubin)
    endif()
    foreach(device IN LISTS devices)
        set(objects)
        set(apart_objects)
        set(sources_of_device ${sources})
        if(device STREQUAL "cuda")
            list(APPEND sources_of_device ${kernels_CUDA_ONLY})
        endif()
        if(NOT sources_of_device)
            continue()
        endif()
        foreach(source IN LISTS sources_of_device)
            get_filename_component(source "${source}" ABSOLUTE)
            if(NOT EXISTS "${source}")
                message(FATAL_ERROR "gradverify_add_kernels(${target}): no file ${source}")
            endif()
            get_filename_component(name "${source}" NAME)
            list(LENGTH objects number)
            set(stem "${folder}/${number}_${name}.${device}")
            if(device MATCHES "^cpu")
                gradverify_compile_cpu(${target} "${source}" "${stem}" ${device} "${cpu_headers}")
            else()
                gradverify_compile_cuda(${target} "${source}" "${stem}" ${to} ${torch_flags})
            endif()
            list(APPEND objects "${stem}.o")
            if(source IN_LIST kernels_APART)
                list(APPEND apart_objects "${stem}.o")
            endif()
        endforeach()
        if(NOT (device STREQUAL "cuda" AND to STREQUAL "-cubin"))
            gradverify_close_unit(${target} "${folder}/unit.${device}" "${objects}" ${device})
            if(kernels_DECLARED_IN)
                list(REMOVE_ITEM objects ${apart_objects})
                set(stubs "${folder}/stubs.${device}")
                add_custom_command(
                    OUTPUT "${stubs}.o"
                    COMMAND "${GRADVERIFY_APART_STUBS}" "${GRADVERIFY_NM}" "${stubs}.cpp"
                        ${objects} -- ${apart_objects}
                    COMMAND "${CMAKE_CXX_COMPILER}" -fPIC -c -o "${stubs}.o" "${stubs}.cpp"
                    DEPENDS ${objects} ${apart_objects} "${GRADVERIFY_APART_STUBS}"
                    VERBATIM)
                gradverify_close_unit(${kernels_DECLARED_IN} "${folder}/declared.${device}"
                    "${objects};${stubs}.o" ${device})
            endif()
        endif()
    endforeach()
endfunction()

# -I and -D of the target, with its libraries' (COMMAND_EXPAND_LISTS splits them). A library may
# list a definition that a condition leaves empty.
macro(gradverify_target_flags target)
    set(directories "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
    set(definitions "$<FILTER:$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>,EXCLUDE,^$>")
    set(include_flags "$<$<BOOL:${directories}>:-I$<JOIN:${directories},;-I>>")
    set(definition_flags "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>")
    set(system_flags)
    if(GRADVERIFY_SYSTEM_INCLUDE)
        set(system_flags -isystem "${GRADVERIFY_SYSTEM_INCLUDE}")
    endif()
    separate_arguments(cxx_flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
    set(level "$<TARGET_PROPERTY:${target},CXX_STANDARD>")
    set(level "$<IF:$<BOOL:${level}>,${level},17>")
    set(cuda_level "$<TARGET_PROPERTY:${target},CUDA_STANDARD>")
    set(level "$<IF:$<BOOL:${cuda_level}>,${cuda_level},${level}>")
endmacro()

# What a unit's files were compiled with, for `gradverify repro --export`: a line for each.
function(gradverify_write_unit_flags target file)
    gradverify_target_flags(${target})
    set(sources)
    foreach(source IN LISTS ARGN)
        get_filename_component(source "${source}" ABSOLUTE)
        string(APPEND sources "source ${source}\n")
    endforeach()
    set(own_headers)
    if(GRADVERIFY_SYSTEM_INCLUDE)
        set(own_headers "include ${GRADVERIFY_SYSTEM_INCLUDE}\n")
    endif()
    file(GENERATE OUTPUT "${file}" CONTENT "${sources}\
$<$<BOOL:${directories}>:include $<JOIN:${directories},\ninclude >\n>\
${own_headers}\
$<$<BOOL:${definitions}>:definition $<JOIN:${definitions},\ndefinition >\n>")
endfunction()

# Most of a kernel file is the same 75,000 lines of headers, so they are compiled once for each set of
# flags. g++ reads their text instead where a file's definitions do not fit.
function(gradverify_precompile_prefix file_variable dependencies_variable flags device)
    set(${file_variable} "" PARENT_SCOPE)
    set(${dependencies_variable} "" PARENT_SCOPE)
    if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR NOT GRADVERIFY_PRECOMPILE)
        return()
    endif()
    string(MD5 key "${CMAKE_CXX_COMPILER};${flags};${device}")
    string(SUBSTRING ${key} 0 12 key)
    set(prefix "${CMAKE_BINARY_DIR}/gradverify_prefix/${device}-${key}/forced.hpp")
    if(NOT TARGET gradverify_prefix_${key})
        file(CONFIGURE OUTPUT "${prefix}" CONTENT "#include \"gradverify_simt/forced.hpp\"\n")
        list(TRANSFORM GRADVERIFY_SIMT_INCLUDE PREPEND "-I" OUTPUT_VARIABLE simt_include_flags)
        add_custom_command(
            OUTPUT "${prefix}.gch"
            COMMAND "${CMAKE_CXX_COMPILER}" -x c++-header ${flags} ${simt_include_flags}
                "-DGRADVERIFY_UNIT_DEVICE=\"${device}\"" -MD -MF "${prefix}.d" -MT "${prefix}.gch"
                -o "${prefix}.gch" "${prefix}"
            DEPENDS "${prefix}"
            DEPFILE "${prefix}.d"
            COMMENT "Precompiling what kernel files begin with, for ${device}"
            VERBATIM)
        add_custom_target(gradverify_prefix_${key} DEPENDS "${prefix}.gch")
    endif()
    set(${file_variable} "${prefix}" PARENT_SCOPE)
    set(${dependencies_variable} gradverify_prefix_${key} "${prefix}.gch" PARENT_SCOPE)
endfunction()

function(gradverify_compile_cpu target source stem device cpu_headers)
    gradverify_target_flags(${target})
    separate_arguments(more_flags UNIX_COMMAND "${GRADVERIFY_CPU_FLAGS}")
    # -g1: the lines that a report names.
    # -fno-strict-aliasing: kernels view shared memory as several types, and nvcc lets them.
    # -ffp-contract=off: a product and a sum round as written, on every machine.
    # -fstack-clash-protection: a large local array touches each page, so it meets the guard.
    # The warnings are off that nvcc does not give for device code (`threadIdx.x < n`).
    set(flags ${cxx_flags} -O2 -g1 -fPIC -fvisibility=hidden -fno-strict-aliasing
        -ffp-contract=off -fstack-clash-protection ${more_flags} -Wno-unknown-pragmas
        -Wno-unused-function -Wno-sign-compare -Wno-psabi
        -Wno-c++20-extensions)  # a launch captures packs
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # A unique symbol cannot be made local. A loop over a tile as over one row has no end where
        # g++ concludes from the row's length how often it runs.
        list(APPEND flags -fno-gnu-unique -fno-aggressive-loop-optimizations)
    else()
        list(APPEND flags -Wno-unused-local-typedef)
        # Below that it has no concepts, which our headers for CUDA's names use.
        set(level "$<IF:$<VERSION_LESS:${level},20>,20,${level}>")
    endif()
    set(last_definitions)
    if(device STREQUAL "cpu-checked")
        # Of fortified copies, which Ubuntu's compilers make of all, no access would be seen: they are
        # expanded in place. It stands behind the user's definitions, which may ask for them, and where
        # text is preprocessed alone: elsewhere clang warns that it is unused.
        set(last_definitions -U_FORTIFY_SOURCE)
        gradverify_checked_flags(flags)
        gradverify_told_wrapping_flags(flags)
    else()
        list(APPEND flags -fwrapv)  # as nvcc's code
    endif()
    gradverify_precompile_prefix(prefix_20 prefix_built "${flags};${last_definitions};-std=c++20" ${device})
    set(prefix_17)
    file(STRINGS "${source}" includes_ours REGEX "include.*harness/(kernel|pass)" LIMIT_COUNT 1)
    if(NOT includes_ours)
        gradverify_precompile_prefix(
            prefix_17 built "${flags};${last_definitions};-std=c++17;-fconcepts" ${device})
        foreach(dependency IN LISTS built)
            list(APPEND prefix_built "$<$<VERSION_LESS:${level},20>:${dependency}>")
        endforeach()
    endif()
    foreach(prefix prefix_17 prefix_20)
        if(NOT ${prefix})
            set(${prefix} -)  # an empty argument would be none
        endif()
    endforeach()
    string(REGEX MATCH "[0-9]+a?" architecture "${GRADVERIFY_CUDA_ARCHITECTURE}")
    if(NOT architecture)
        set(architecture 90)  # nvcc's own words, such as native
    endif()
    set(simt_include_flags ${cpu_headers} ${GRADVERIFY_SIMT_INCLUDE})
    list(TRANSFORM simt_include_flags PREPEND "-I")
    set(step "${GRADVERIFY_CPU_STEP}" "${source}" ${target})
    add_custom_command(
        OUTPUT "${stem}.o"
        COMMAND ${step} "${GRADVERIFY_CPU_PREPROCESS}" "${level}" "${architecture}" "${stem}"
            "${prefix_17}" "${prefix_20}" "${CMAKE_CXX_COMPILER}" -E -x c++ ${flags}
            ${simt_include_flags}
            ${system_flags} "${include_flags}" "${definition_flags}"
            "-DGRADVERIFY_UNIT_DEVICE=\"${device}\"" "-DGRADVERIFY_UNIT_FLAGS=\"${unit_flags}\""
            ${last_definitions} "${source}"
        COMMAND ${step} $<TARGET_FILE:gradverify::rewrite> "${stem}.ii" "${stem}.rewritten.ii"
            "${stem}.device.ii" ${cpu_headers}
        COMMAND ${step} "${CMAKE_CXX_COMPILER}" -x c++-cpp-output ${flags} "@${stem}.level" -c
            -o "${stem}.o" "${stem}.rewritten.ii"
        DEPENDS "${source}" gradverify::rewrite "${GRADVERIFY_CPU_PREPROCESS}" ${prefix_built}
        DEPFILE "${stem}.d"
        COMMENT "Building ${target}'s ${source} for ${device}"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# Signed integers wrap, and an overflow is told to what harness/simt/faults/ubsan_entry_points.cpp
# defines: kernels take twice as long. These flags come last: a sanitizer of the user's may end the
# process.
function(gradverify_told_wrapping_flags variable)
    list(APPEND ${variable}
        -fsanitize=signed-integer-overflow -fsanitize-recover=signed-integer-overflow)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Else g++ takes `x + 10 > 20` for `x > 10` before its sanitizer sees it. -fwrapv turns the
        # sanitizer off. What g++ calls then is renamed when the unit is closed.
        list(APPEND ${variable} -ftrapv)
    endif()
    set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# Every access becomes a call of what harness/simt/races/tsan_entry_points.cpp defines; the thread
# sanitizer's own runtime is not linked. Other sanitizers can't be combined with it.
function(gradverify_checked_flags variable)
    set(flags ${${variable}})
    list(FILTER flags EXCLUDE REGEX "^-f(no-)?sanitize")
    # alignment: a float4 that is read through a pointer of a float's alignment. object-size: an
    # element behind the end of a thread's own array, whose accesses are no calls.
    list(APPEND flags -fsanitize=thread,alignment,object-size -fno-sanitize-recover=alignment
        -fsanitize-recover=object-size -DGRADVERIFY_SIMT_CHECKED)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Vectors would make one access of several elements' accesses. Where pointers point to takes
        # minutes to find in large files with these checks, FlashAttention's for example.
        # What stood on the stack where the registers of a product stand later would be a write to
        # them.
        list(APPEND flags -fno-tree-vectorize -fno-tree-pta -fstack-reuse=none -Wno-tsan
            --param=tsan-distinguish-volatile=1 --param=tsan-instrument-func-entry-exit=0)
        # The compiler expands calls of a constant size in place, which reports no access.
        list(APPEND flags -fno-builtin-memset -fno-builtin-memcpy -fno-builtin-memmove)
    else()
        # clang drops a read that is directly followed by a write to the same address.
        list(APPEND flags -fno-vectorize -fno-slp-vectorize
            -mllvm -tsan-distinguish-volatile=1 -mllvm -tsan-instrument-func-entry-exit=0
            -mllvm -tsan-instrument-read-before-write=1)
    endif()
    set(${variable} ${flags} PARENT_SCOPE)
endfunction()

# Makes <stem>.o; with -cubin for -c, <stem>.cubin alone, which takes half of the time.
function(gradverify_compile_cuda target source stem to)
    gradverify_target_flags(${target})
    separate_arguments(more_flags UNIX_COMMAND "${GRADVERIFY_CUDA_FLAGS}")
    list(APPEND more_flags ${ARGN})
    # What nvcc hands to the host compiler is not pedantic C++.
    set(host_flags ${cxx_flags} -fPIC -fvisibility=hidden -Wno-pedantic)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        list(APPEND host_flags -fno-gnu-unique)
    endif()
    list(TRANSFORM host_flags PREPEND "-Xcompiler=")
    set(made "${stem}.o")
    if(to STREQUAL "-cubin")
        set(made "${stem}.cubin")
        target_sources(${target} PRIVATE "${made}")
    endif()
    add_custom_command(
        OUTPUT "${made}"
        COMMAND "${GRADVERIFY_LANGUAGE_LEVEL}" "${level}" "${stem}.level" "${CMAKE_CXX_COMPILER}"
            -x c++
            ${system_flags} "${include_flags}" "${definition_flags}" "${source}"
        COMMAND "${GRADVERIFY_NVCC}" -x cu --options-file "${stem}.level"
            "-arch=${GRADVERIFY_CUDA_ARCHITECTURE}" -O2 -lineinfo --extended-lambda
            --expt-relaxed-constexpr "-ccbin=${CMAKE_CXX_COMPILER}" ${host_flags} ${more_flags}
            ${system_flags} "${include_flags}" "${definition_flags}" "-DGRADVERIFY_UNIT_DEVICE=\"cuda\""
            "-DGRADVERIFY_UNIT_FLAGS=\"${unit_flags}\""
            -MD -MF "${stem}.d" -MT "${made}" ${to} -o "${made}" "${source}"
        DEPENDS "${source}"
        DEPFILE "${stem}.d"
        COMMENT "Building ${target}'s ${source} for cuda"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# Makes one relocatable object with local definitions alone; its static initialisers still run, and
# register the kernels.
function(gradverify_close_unit target stem objects device)
    set(renamed)
    if(device STREQUAL "cpu-checked")
        foreach(name add sub mul divrem negate)
            list(APPEND renamed --redefine-sym
                __ubsan_handle_${name}_overflow=gradverify_simt_${name}_overflow)
        endforeach()
        foreach(mode si di ti)
            foreach(name addv${mode}3 subv${mode}3 mulv${mode}3 negv${mode}2 absv${mode}2)
                list(APPEND renamed --redefine-sym __${name}=gradverify_simt_${name})
            endforeach()
        endforeach()
    endif()
    if(device STREQUAL "cpu-checked")
        foreach(name memcpy memmove memset)
            list(APPEND renamed --redefine-sym ${name}=gradverify_simt_${name})
        endforeach()
        list(APPEND renamed --redefine-sym
            __ubsan_handle_type_mismatch_v1_abort=gradverify_simt_misaligned
            --redefine-sym __ubsan_handle_type_mismatch_v1=gradverify_simt_outside_object)
    endif()
    add_custom_command(
        OUTPUT "${stem}.o"
        # Without groups in the result the linker cannot merge our COMDATs with another unit's.
        COMMAND "${GRADVERIFY_LD}" -r --force-group-allocation -o "${stem}.open.o" ${objects}
        COMMAND "${GRADVERIFY_OBJCOPY}" --keep-global-symbol=gradverify_no_such_symbol ${renamed}
            "${stem}.open.o" "${stem}.o"
        DEPENDS ${objects}
        COMMENT "Closing ${target}'s unit ${stem}.o"
        VERBATIM)
    set_source_files_properties("${stem}.o" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    # $<TARGET_OBJECTS> leaves external objects out, so an object library hands its units on.
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "OBJECT_LIBRARY")
        target_sources(${target} PUBLIC "${stem}.o")
    else()
        target_sources(${target} PRIVATE "${stem}.o")
    endif()
endfunction()

function(gradverify_link_cuda_runtime target)
    get_filename_component(bin "${GRADVERIFY_NVCC}" REALPATH)
    get_filename_component(bin "${bin}" DIRECTORY)
    find_library(GRADVERIFY_CUDART NAMES libcudart_static.a
        HINTS "${bin}/../lib64" "${bin}/../lib" "${bin}/../targets/x86_64-linux/lib"
              "${bin}/../targets/sbsa-linux/lib" REQUIRED)
    find_package(Threads REQUIRED)
    target_link_libraries(${target} PRIVATE "${GRADVERIFY_CUDART}" Threads::Threads rt
        ${CMAKE_DL_LIBS})
endfunction()
