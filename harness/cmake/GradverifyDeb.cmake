# SPDX-License-Identifier: Apache-2.0
# `cpack` makes a .deb of what `cmake --install` installs.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME gradverify)
set(CPACK_PACKAGE_CONTACT "The gradverify developers <developers@gradverify.invalid>")
set(CPACK_PACKAGE_DESCRIPTION "It draws problems and data, runs a kernel on a GPU or on the CPU, and
compares every element with a reference. Headers, libraries and the CMake
package are for kernels of your own.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(NOT GRADVERIFY_STATIC_RUNTIME)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "libfmt-dev, librapidcheck-dev")
endif()
# For kernels of one's own; libdw names the lines of a failure.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "cmake (>= 3.25), g++ (>= 4:12), libdw1 | libdw1t64, make | ninja-build")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS librapidcheck-dev)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
    GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb_layout.cmake)
include(CPack)
