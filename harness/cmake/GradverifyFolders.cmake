# SPDX-License-Identifier: Apache-2.0
# What a folder's CMakeLists.txt says of it: one list of sources, and one of tests.

# gradverify_sources(<target> <file.cpp>...): adds the folder's files to a library.
function(gradverify_sources target)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    target_sources(${target} PRIVATE ${ARGN})
    gradverify_join(${target} ${ARGN})
endfunction()

# With GRADVERIFY_UNITY_BUILD a folder's files are compiled as one, those of its rooms too, so no two of
# their names are alike.
function(gradverify_join target)
    if(NOT GRADVERIFY_UNITY_BUILD)
        return()
    endif()
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
        OUTPUT_VARIABLE folder)
    # The rooms of a folder include the same headers.
    string(REGEX REPLACE "^(harness/[a-z]+)/.*" "\\1" folder "${folder}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
endfunction()

# gradverify_unit_tests(<executable>): it holds tests of single files, which take the harness alone.
# Where another build has it, that one is run (GRADVERIFY_UNIT_TESTS_FROM).
function(gradverify_unit_tests executable)
    if(GRADVERIFY_UNIT_TESTS_FROM)
        set_target_properties(${executable} PROPERTIES EXCLUDE_FROM_ALL ON
            GRADVERIFY_RUN_INSTEAD ${GRADVERIFY_UNIT_TESTS_FROM}/${executable})
    endif()
endfunction()

# What a test of an executable runs.
function(gradverify_command_of variable executable)
    get_target_property(command ${executable} GRADVERIFY_RUN_INSTEAD)
    if(NOT command)
        set(command ${executable})
    endif()
    set(${variable} ${command} PARENT_SCOPE)
endfunction()

# gradverify_tests(<executable> <file_test.cpp>... [ALONE <file_test.cpp>...]): adds the folder's tests
# to an executable of doctest's, and each file to ctest, where it fails if it holds no test. A test's
# name is its path: harness/workers/pool. Those behind ALONE are never compiled with the others.
function(gradverify_tests executable)
    if(NOT GRADVERIFY_BUILD_TESTS)
        return()
    endif()
    gradverify_command_of(command ${executable})
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" ALONE)
    set(joined ${arg_UNPARSED_ARGUMENTS})
    list(TRANSFORM joined PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    gradverify_join(${executable} ${joined})
    foreach(file IN LISTS arg_UNPARSED_ARGUMENTS arg_ALONE)
        set(path ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        target_sources(${executable} PRIVATE ${path})
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
        string(REGEX REPLACE "_test\\.cpp$" "" name ${name})
        add_test(NAME ${name} COMMAND ${command} "--source-file=*/${name}_test.cpp")
        set_tests_properties(${name} PROPERTIES LABELS ${executable}
            FAIL_REGULAR_EXPRESSION "test cases: +0 ")
    endforeach()
endfunction()

# gradverify_precompile(<target> [<header>...]): reads common headers and these once for a target.
function(gradverify_precompile target)
    if(GRADVERIFY_PRECOMPILE)
        target_precompile_headers(${target} PRIVATE <algorithm> <array> <chrono> <cmath> <cstdint>
            <functional> <map> <memory> <optional> <set> <span> <stdexcept> <string> <vector> ${ARGN})
    endif()
endfunction()
