# SPDX-License-Identifier: Apache-2.0
# Compiles one file and checks what the compiler says: the file's `expect:` line must be in it.
# Called with COMPILER, SOURCE and ROOT.
file(STRINGS ${SOURCE} marks REGEX "^// (expect|expect-success|flags):")
set(flags -std=c++20)
foreach(mark IN LISTS marks)
    if(mark MATCHES "^// flags: (.*)$")
        separate_arguments(flags UNIX_COMMAND "${CMAKE_MATCH_1}")
    elseif(mark MATCHES "^// expect: (.*)$")
        set(expected "${CMAKE_MATCH_1}")
    endif()
endforeach()
execute_process(
    COMMAND ${COMPILER} ${flags} -DGRADVERIFY_UNIT_DEVICE="cpu" -I${ROOT} -fsyntax-only ${SOURCE}
    RESULT_VARIABLE result ERROR_VARIABLE said)
if(NOT DEFINED expected)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${SOURCE} must compile:\n${said}")
    endif()
    return()
endif()
if(result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiled, but must not")
endif()
string(FIND "${said}" "${expected}" found)
if(found EQUAL -1)
    message(FATAL_ERROR "the compiler must say\n  ${expected}\nbut said\n${said}")
endif()
