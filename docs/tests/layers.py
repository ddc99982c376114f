# SPDX-License-Identifier: Apache-2.0
"""Holds every #include to the layers of docs/architecture.md, and prints each that breaks them.

A file may include its own folder and those before it in its order. `./run layers` runs this; exit
code 1 where an #include breaks a rule or a folder has no place here.
"""

import pathlib
import re
import sys

HARNESS = ("base numbers problems operators registry front cases devices workers run report bench "
           "cli").split()  # fmt: skip
PROPERTIES = ("problems data checking shrinking large properties explaining bench suite").split()
CUDA, EIGEN = re.compile(r"cuda_runtime|cuda\.h|cublas|cudnn"), re.compile(r"Eigen/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".cpp", ".hpp", ".cu", ".cuh"}


def is_test(path):
    return bool({"testing", "tests"} & set(path.parts)) or path.stem.endswith("_test")


def room(path):
    """The layer of a file: its top-level folder, and its place there."""
    top, *below = path.parts[:-1]
    if top == "harness":
        return top, below[0] if below else "front"
    if top == "properties":
        return top, below[0] if below else "properties"
    return top, below[0] if below else ""


def may_include(path, target):
    """Whether the file may include the other file of the repository; none of them is a test."""
    (top, place), (other_top, other) = room(path), room(target)
    if top == "harness" and place == "simt":
        return other == "simt"
    if other_top == "harness" and other == "simt":
        return top == "harness" and place == "devices" and target.name == "simt.hpp"
    if other_top == "properties":
        return top == "properties" and PROPERTIES.index(other) <= PROPERTIES.index(place)
    if other_top == "harness":
        if top == "harness":
            limit = place
        elif top == "properties":
            limit = "cli" if path.parts[1:] == ("suite", "main.cpp") else "devices"
        else:
            limit = "front"
        return HARNESS.index(other) <= HARNESS.index(limit)
    if other_top == "reference":
        return top in ("reference", "kernels")
    return top == other_top


def broken(root, path):
    """The includes of a file that break a rule."""
    relative = path.relative_to(root)
    if is_test(relative):
        return
    top, place = room(relative)
    for include in INCLUDE.findall(path.read_text(encoding="utf-8")):
        target = pathlib.PurePosixPath(include)
        ours = len(target.parts) > 1 and (root / target).is_file()
        if ours and (is_test(target) or not may_include(relative, target)):
            yield include
        elif CUDA.match(include) and place != "simt" and top != "kernels" and not (
                top == "harness" and "cuda" in path.name):
            yield include
        elif EIGEN.match(include) and top != "reference" and path.name != "matrix_product.hpp":
            yield include
        elif include.startswith("doctest/"):
            yield include


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    count, faults = 0, []
    for top in ("harness", "properties", "reference", "kernels"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            count += 1
            try:
                faults += [f"{path.relative_to(root)}: must not include {name}"
                           for name in broken(root, path)]
            except ValueError as error:  # a folder that no list names
                faults.append(f"{path.relative_to(root)}: {error}")
    print("\n".join(faults) if faults else f"layers: {count} files keep to docs/architecture.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
