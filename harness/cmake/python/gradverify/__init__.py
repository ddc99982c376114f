# SPDX-License-Identifier: Apache-2.0
"""Where the wheel's CMake package lies, and its executable."""

import os
import sys


def get_cmake_dir():
    """The folder for CMake's gradverify_DIR."""
    return os.path.join(os.path.dirname(__file__), "lib", "cmake", "gradverify")


def main():
    """Becomes the executable, with this process's arguments."""
    executable = os.path.join(os.path.dirname(__file__), "bin", "gradverify")
    os.execv(executable, ["gradverify", *sys.argv[1:]])
