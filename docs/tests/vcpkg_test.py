# SPDX-License-Identifier: Apache-2.0
"""vcpkg.json: its version is CMake's, and it names each package that CMake looks for.

usage: vcpkg_test.py ROOT VERSION
"""

import json
import re
import sys
from pathlib import Path

# What find_package calls them.
PORTS = {"Eigen3": "eigen3", "CLI11": "cli11", "fmt": "fmt",
         "nlohmann_json": "nlohmann-json", "rapidcheck": "rapidcheck", "doctest": "doctest"}
SYSTEM = {"Threads", "CUDAToolkit"}
# What find_path looks for: a header, and the port.
FILES = {"elfutils/libdwfl.h": "elfutils"}


def names(dependencies):
    return {one if isinstance(one, str) else one["name"] for one in dependencies}


def main():
    root, version = Path(sys.argv[1]), sys.argv[2]
    manifest = json.loads((root / "vcpkg.json").read_text())
    tests = names(manifest["features"]["tests"]["dependencies"])
    ours = names(manifest["dependencies"])
    files = [root / "CMakeLists.txt", *root.glob("harness/**/CMakeLists.txt")]
    text = "".join(file.read_text() for file in files)
    packages = set(re.findall(r"find_package\((\w+)", text)) - SYSTEM
    found = {PORTS[name] for name in packages}
    found |= {port for name, port in FILES.items() if re.search(rf"\b{name}\b", text)}
    wrong = []
    if manifest["version"] != version:
        wrong.append(f"version {manifest['version']}, but CMake's is {version}")
    if ours | tests != found or ours & tests:
        wrong.append(f"it has {sorted(ours)} and for tests {sorted(tests)}; CMake wants {found}")
    if tests != {"doctest"}:
        wrong.append(f"only tests need doctest, but they have {sorted(tests)}")
    print("\n".join(wrong) or "vcpkg.json is right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
