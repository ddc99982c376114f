# SPDX-License-Identifier: Apache-2.0
# Installs BUILD and moves the result to PREFIX. No CMake file of it may name the source, the build
# or the first place.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE "${PREFIX}" "${PREFIX}-first")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${PREFIX}-first"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${PREFIX}-first" "${PREFIX}")
file(GLOB_RECURSE files "${PREFIX}/*.cmake")
list(LENGTH files count)
if(count LESS 4)
    message(FATAL_ERROR "only ${count} CMake files were installed")
endif()
foreach(file IN LISTS files)
    file(READ "${file}" text)
    foreach(place IN ITEMS "${SOURCE}" "${BUILD}" "${PREFIX}-first")
        string(FIND "${text}" "${place}/" at)
        if(NOT at EQUAL -1)
            message(SEND_ERROR "${file} names ${place}")
        endif()
    endforeach()
endforeach()
