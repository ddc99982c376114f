# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs the executable, its libraries, the headers for kernel and operator files,
# and the tools of gradverify_add_kernels. include/gradverify has the repository's layout.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/gradverify)
set(headers ${CMAKE_INSTALL_INCLUDEDIR}/gradverify)

get_property(chosen GLOBAL PROPERTY gradverify_chosen)
list(TRANSFORM chosen PREPEND reference_)
set(installed)
foreach(part options simt harness properties reference main apart rewrite ${chosen})
    set_target_properties(gradverify_${part} PROPERTIES EXPORT_NAME ${part})
    list(APPEND installed gradverify_${part})
endforeach()
install(TARGETS ${installed}
    EXPORT gradverify-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    OBJECTS DESTINATION ${CMAKE_INSTALL_LIBDIR}/gradverify
    RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/gradverify)
if(GRADVERIFY_STATIC_RUNTIME)
    set(ours ${CMAKE_INSTALL_LIBDIR}/gradverify)
    install(FILES $<TARGET_FILE:rapidcheck> DESTINATION ${ours} RENAME librapidcheck.a)
    set_property(TARGET gradverify_properties APPEND PROPERTY INTERFACE_LINK_LIBRARIES
        $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${ours}/librapidcheck.a>)
endif()

# gradverify_install_output(<folder> <file> <argument>...): installs what the executable prints.
function(gradverify_install_output folder file)
    list(JOIN ARGN " " arguments)
    # Written in place: two installations of one build may run at a time.
    install(CODE "set(share \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${folder}\")
        file(MAKE_DIRECTORY \"\${share}\")
        execute_process(COMMAND \"$<TARGET_FILE:gradverify>\" ${arguments}
            OUTPUT_FILE \"\${share}/${file}\" COMMAND_ERROR_IS_FATAL ANY)")
endfunction()
if(GRADVERIFY_BUILD_KERNELS)
    install(TARGETS gradverify RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    # Of another machine's kind it can't be run here.
    if(NOT CMAKE_CROSSCOMPILING)
        gradverify_install_output(man/man1 gradverify.1.gz man COMMAND gzip -9n)
        gradverify_install_output(bash-completion/completions gradverify completion bash)
    endif()
endif()

foreach(folder harness reference)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${headers}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*test*" EXCLUDE PATTERN "matrix_product.hpp" EXCLUDE
        PATTERN "simt" EXCLUDE PATTERN "*_errors" EXCLUDE PATTERN "cmake" EXCLUDE)
endforeach()
# For property tests of a user's own.
install(FILES ${PROJECT_SOURCE_DIR}/properties/rapidcheck.hpp DESTINATION ${headers}/properties)
install(FILES ${PROJECT_SOURCE_DIR}/harness/simt/simt.hpp DESTINATION ${headers}/harness/simt)
# CUDA's header names, for .cu files on the cpu device alone.
foreach(folder IN LISTS GRADVERIFY_SIMT_INCLUDE)
    install(DIRECTORY ${folder}/ DESTINATION ${headers}/harness/simt/include
        PATTERN "CMakeLists.txt" EXCLUDE)
endforeach()

install(EXPORT gradverify-targets NAMESPACE gradverify:: DESTINATION ${package})
set(GRADVERIFY_HEADERS ${headers})
set(with_cuda OFF)
if(GRADVERIFY_NVCC)
    set(with_cuda ON)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/gradverify-config.cmake.in
    ${PROJECT_BINARY_DIR}/gradverify-config.cmake
    INSTALL_DESTINATION ${package} PATH_VARS GRADVERIFY_HEADERS)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gradverify-config-version.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gradverify-config.cmake
        ${PROJECT_BINARY_DIR}/gradverify-config-version.cmake
        ${CMAKE_CURRENT_LIST_DIR}/GradverifyKernels.cmake
        ${CMAKE_CURRENT_LIST_DIR}/GradverifyTorch.cmake
    DESTINATION ${package})
install(PROGRAMS
        ${CMAKE_CURRENT_LIST_DIR}/apart_stubs.sh
        ${CMAKE_CURRENT_LIST_DIR}/cpu_preprocess.sh
        ${CMAKE_CURRENT_LIST_DIR}/cpu_step.sh
        ${CMAKE_CURRENT_LIST_DIR}/language_level.sh
    DESTINATION ${package})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${CMAKE_CURRENT_LIST_DIR}/copyright
    DESTINATION ${CMAKE_INSTALL_DOCDIR})
include(${CMAKE_CURRENT_LIST_DIR}/GradverifyDeb.cmake)
