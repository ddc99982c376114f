# SPDX-License-Identifier: Apache-2.0
# An overlay port, which builds the clone that it lies in:
#   vcpkg install gradverify --overlay-ports=harness/cmake/vcpkg
# It has the library and the CMake package; a project's own executable has the command line.
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
# Programs over it are build tools: they are as fast in a debug build.
set(VCPKG_BUILD_TYPE release)

get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        -DGRADVERIFY_BUILD_KERNELS=OFF
        -DGRADVERIFY_BUILD_TESTS=OFF
        -DGRADVERIFY_CUDA=TOOLKIT)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/gradverify)
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/harness/cmake/copyright")
