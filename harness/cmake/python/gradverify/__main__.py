# SPDX-License-Identifier: Apache-2.0
"""`python -m gradverify --cmakedir`, and else what `gradverify` does."""

import sys

from gradverify import get_cmake_dir, main

if sys.argv[1:] == ["--cmakedir"]:
    print(get_cmake_dir())
else:
    main()
