# SPDX-License-Identifier: Apache-2.0
# Decides which of our operators and kernels are built: a part is a file of reference/ or
# reference/gallery/, with all of its operators, and the kernels in the folder of kernels/ (or of
# kernels/fast/) that has its name. Each is a target of its own, so to switch parts links again and
# compiles nothing twice. `cmake --build` without a target builds no other part.
include_guard(GLOBAL)

set(gradverify_seeds conv fc relu maxpool avgpool softmax_cross_entropy lenet5)
if(PROJECT_IS_TOP_LEVEL)
    set(gradverify_default_parts all)
else()
    set(gradverify_default_parts seeds)
endif()
set(GRADVERIFY_PARTS ${gradverify_default_parts} CACHE STRING "Operators to build, with their \
kernels: all; seeds (those of the seed documents); names of operators. fast: their fast kernels too, \
which `all` has.")

function(gradverify_begin_operators)
    add_library(gradverify_reference INTERFACE)
    target_link_libraries(gradverify_reference INTERFACE gradverify_options)
    # Owns the precompiled header: an OBJECT library would hand its own to all that link it.
    set(empty ${CMAKE_CURRENT_BINARY_DIR}/headers.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(gradverify_reference_headers STATIC ${empty})
    gradverify_operator_flags(gradverify_reference_headers)
    if(GRADVERIFY_PRECOMPILE)
        target_precompile_headers(gradverify_reference_headers PRIVATE
            ${PROJECT_SOURCE_DIR}/harness/declare_operator.hpp
            ${PROJECT_SOURCE_DIR}/harness/registry/registry.hpp)
    endif()
endfunction()

# Optimised even in an everyday build: every case runs through it.
function(gradverify_operator_flags target)
    target_compile_options(${target} PRIVATE $<IF:$<CONFIG:Debug>,-O0,-O2>)
    target_link_libraries(${target}
        PUBLIC gradverify_options
        PRIVATE $<BUILD_INTERFACE:Eigen3::Eigen>)
endfunction()

# gradverify_operators(<file.cpp>... [OPERATORS <name>...]): a part, named by its first file.
function(gradverify_operators)
    cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "OPERATORS")
    list(GET arg_UNPARSED_ARGUMENTS 0 part)
    get_filename_component(part ${part} NAME_WE)
    if(NOT arg_OPERATORS)
        set(arg_OPERATORS ${part})
    endif()
    set_property(GLOBAL PROPERTY gradverify_operators_of_${part} ${arg_OPERATORS})
    set_property(GLOBAL APPEND PROPERTY gradverify_parts ${part})
    gradverify_keep_head(${arg_UNPARSED_ARGUMENTS})
    add_library(gradverify_reference_${part} OBJECT ${arg_UNPARSED_ARGUMENTS})
    gradverify_operator_flags(gradverify_reference_${part})
    if(GRADVERIFY_PRECOMPILE)
        target_precompile_headers(gradverify_reference_${part}
            REUSE_FROM gradverify_reference_headers)
    endif()
    set(is_chosen OFF)
    foreach(name ${part} ${arg_OPERATORS})
        if(name IN_LIST GRADVERIFY_PARTS)
            set(is_chosen ON)
        endif()
    endforeach()
    if(is_chosen OR "all" IN_LIST GRADVERIFY_PARTS OR
       ("seeds" IN_LIST GRADVERIFY_PARTS AND part IN_LIST gradverify_seeds))
        set_property(GLOBAL APPEND PROPERTY gradverify_chosen ${part})
        target_sources(gradverify_reference INTERFACE
            $<TARGET_OBJECTS:$<TARGET_NAME:gradverify_reference_${part}>>)
    else()
        set_target_properties(gradverify_reference_${part} PROPERTIES EXCLUDE_FROM_ALL ON)
        set_property(GLOBAL APPEND PROPERTY gradverify_left_out ${arg_OPERATORS})
    endif()
endfunction()

# Keeps what the head of a part's header, or of its file, says: the formulas of its operators.
function(gradverify_keep_head file)
    string(REGEX REPLACE "cpp$" "hpp" header ${file})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
        set(file ${header})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REGEX MATCH "\n(//[^\n]*\n)+" head "${text}")
    string(REGEX REPLACE "\n// ?" "\n  " head "${head}")
    string(REPLACE "\n  \n" "\n\n" head "${head}")
    foreach(name IN LISTS arg_OPERATORS)
        set_property(GLOBAL APPEND_STRING PROPERTY gradverify_heads
            "    {\"${name}\", R\"head(${head})head\"},\n")
    endforeach()
endfunction()

# Refuses a name in GRADVERIFY_PARTS that is none.
function(gradverify_end_operators)
    get_property(parts GLOBAL PROPERTY gradverify_parts)
    set(names ${parts})
    foreach(part IN LISTS parts)
        get_property(operators GLOBAL PROPERTY gradverify_operators_of_${part})
        list(APPEND names ${operators})
    endforeach()
    list(REMOVE_DUPLICATES names)
    foreach(part IN LISTS GRADVERIFY_PARTS)
        if(NOT part IN_LIST names AND NOT part MATCHES "^(all|seeds|fast)$")
            list(JOIN names ", " names)
            message(FATAL_ERROR "GRADVERIFY_PARTS: there is no operator `${part}`; there are all, "
                "seeds, fast, ${names}")
        endif()
    endforeach()
endfunction()

# gradverify_kernel_of_part(<file.cu> [CUDA_ONLY]): a kernel of the part that its folder names.
function(gradverify_kernel_of_part file)
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(part ${folder} NAME)
    get_property(parts GLOBAL PROPERTY gradverify_parts)
    if(NOT part IN_LIST parts)
        message(FATAL_ERROR "kernels/${file}: there is no ${part}.cpp in reference/ or "
            "reference/gallery/, and a folder of kernels/ or kernels/fast/ is named as a file there")
    endif()
    string(MAKE_C_IDENTIFIER "gradverify_kernels_${folder}" target)
    if(NOT TARGET ${target})
        add_library(${target} OBJECT EXCLUDE_FROM_ALL)
        target_link_libraries(${target} PRIVATE gradverify_options)
        target_compile_definitions(${target} PRIVATE
            $<TARGET_PROPERTY:gradverify_kernels,INTERFACE_COMPILE_DEFINITIONS>)
        get_property(chosen GLOBAL PROPERTY gradverify_chosen)
        if(part IN_LIST chosen AND (NOT folder MATCHES "^fast/" OR "all" IN_LIST GRADVERIFY_PARTS OR
                                    "fast" IN_LIST GRADVERIFY_PARTS))
            target_link_libraries(gradverify_kernels INTERFACE ${target})
        elseif(part IN_LIST chosen)
            get_property(operators GLOBAL PROPERTY gradverify_operators_of_${part})
            list(TRANSFORM operators PREPEND "fast/")
            set_property(GLOBAL APPEND PROPERTY gradverify_left_out ${operators})
        endif()
    endif()
    gradverify_add_kernels(${target} ${ARGN} ${file})
endfunction()

# Tells the executable what it lacks, and what operators compute: a source of gradverify_main. To be
# called after all parts.
function(gradverify_say_what_is_left_out)
    get_property(left_out GLOBAL PROPERTY gradverify_left_out)
    get_property(heads GLOBAL PROPERTY gradverify_heads)
    list(JOIN left_out " " left_out)
    set(file ${PROJECT_BINARY_DIR}/left_out.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "// Written by GradverifyParts.cmake.
namespace gradverify {
extern const char* const left_out;
const char* const left_out = \"${left_out}\";
extern const char* const operator_heads[][2];
const char* const operator_heads[][2] = {
${heads}    {nullptr, nullptr}};
}  // namespace gradverify
")
    target_sources(gradverify_main PRIVATE ${file})
    if(NOT "all" IN_LIST GRADVERIFY_PARTS)
        list(JOIN GRADVERIFY_PARTS ";" parts)
        message(STATUS "gradverify: with the operators of GRADVERIFY_PARTS=${parts} alone; `all` "
            "builds all of ours")
    endif()
endfunction()
