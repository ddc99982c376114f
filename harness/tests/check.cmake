# SPDX-License-Identifier: Apache-2.0
# Compiles SOURCE by COMPILER with MISTAKE defined, and checks that the compiler says the text of the
# source's line `// MISTAKE: text`; without such a line the source must compile without a warning.
execute_process(
    COMMAND ${COMPILER} -std=${STANDARD} -D${MISTAKE} -DGRADVERIFY_UNIT_DEVICE="cpu" -I${ROOT}
        -Wall -Wextra -fsyntax-only ${SOURCE}
    RESULT_VARIABLE result ERROR_VARIABLE said)
file(STRINGS ${SOURCE} lines REGEX "^// ${MISTAKE}: ")
if("${lines}" STREQUAL "")
    if(NOT result EQUAL 0 OR said MATCHES "warning:")
        message(FATAL_ERROR "${SOURCE} must compile:\n${said}")
    endif()
    return()
endif()
foreach(line IN LISTS lines)
    string(REPLACE "// ${MISTAKE}: " "" expected "${line}")
endforeach()
string(FIND "${said}" "${expected}" found)
if(result EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "the compiler must say\n  ${expected}\nbut said\n${said}")
endif()
