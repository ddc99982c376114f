# SPDX-License-Identifier: Apache-2.0
"""Holds the sources to the layers and rooms of docs/architecture.md, and prints what breaks them.

A file may include its own folder and those before it in its order; no two files of the harness, the
properties and the references have one name; no folder holds more than 40 sources. `./run layers`
runs this; exit code 1 where a rule is broken or a folder has no place here.
"""

import collections
import pathlib
import re
import sys

HARNESS = ("base numbers problems operators registry front declaring cases devices workers run "
           "report bench drafting cli").split()  # fmt: skip
PROPERTIES = ("problems data checking shrinking large properties explaining bench suite").split()
# Floors of the CPU device; the files directly in harness/simt/ are of include/.
SIMT = ("include runtime execute ptx races faults".split(), "include libraries torch".split(),
        ["rewrite"])  # fmt: skip
SIMT_ROOTS = ("harness/simt/include", "harness/simt/libraries", "harness/simt/torch")
CUDA, EIGEN = re.compile(r"cuda_runtime|cuda\.h|cublas|cudnn"), re.compile(r"Eigen/")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.MULTILINE)
SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}
MOST_SOURCES = 40


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


def keeps_floor(path, target):
    """Whether a file of the CPU device may include the other one."""
    own, other = (p.parts[2] if len(p.parts) > 3 else "include" for p in (path, target))
    if not any(own in floors for floors in SIMT):
        raise ValueError(f"{own} is no floor of harness/simt")
    return any(own in floors and other in floors[:floors.index(own) + 1] for floors in SIMT)


def file_of(root, path, include):
    """The file of the repository that an include names, if it does."""
    for base in ("", *(SIMT_ROOTS if room(path) == ("harness", "simt") else ())):
        target = pathlib.PurePosixPath(base) / include
        if len(target.parts) > 1 and (root / target).is_file():
            return target
    return None


def may_include(path, target):
    """Whether the file may include the other file of the repository; none of them is a test."""
    (top, place), (other_top, other) = room(path), room(target)
    if top == "harness" and place == "simt":
        return other == "simt" and keeps_floor(path, target)
    if other_top == "harness" and other == "simt":
        return top == "harness" and place == "devices" and target.name == "simt.hpp"
    if other_top == "properties":
        return top == "properties" and PROPERTIES.index(other) <= PROPERTIES.index(place)
    if other_top == "harness":
        if top == "harness" and place == "report" and other in ("workers", "run"):
            return target.name == "result.hpp"
        if top == "harness":
            limit = place
        elif top == "properties":
            limit = "cli" if path.parts[1:] == ("suite", "gradverify.cpp") else "devices"
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
        target = file_of(root, relative, include)
        if target and (is_test(target) or not may_include(relative, target)):
            yield include
        elif CUDA.match(include) and place != "simt" and top != "kernels" and not (
                top == "harness" and "cuda" in path.name):
            yield include
        elif EIGEN.match(include) and top != "reference" and path.name != "matrix_product.hpp":
            yield include
        elif include.startswith("doctest/"):
            yield include


def crowded(paths):
    """Names that two files have, and folders with too many sources. A kernel is named by its folder
    too, an element of PTX by its floor, and the bugs of an operator as the operator."""
    named, folders = collections.defaultdict(list), collections.Counter()
    for path in paths:
        if room(path) != ("harness", "simt") and path.suffix not in (".cu", ".cuh"):
            named[path.name].append(path)
        folders[path.parent] += not is_test(path)
    for name, same in sorted(named.items()):
        if len(same) > 1:
            yield f"{name}: stands in " + " and ".join(str(path.parent) for path in same)
    for folder, count in sorted(folders.items()):
        if count > MOST_SOURCES:
            yield f"{folder}: {count} sources, more than {MOST_SOURCES}"


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    paths, faults = [], []
    for top in ("harness", "properties", "reference", "kernels"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES:
                continue
            paths.append(path.relative_to(root))
            try:
                faults += [f"{path.relative_to(root)}: must not include {name}"
                           for name in broken(root, path)]
            except ValueError as error:  # a folder that no list names
                faults.append(f"{path.relative_to(root)}: {error}")
    faults += crowded(paths)
    print("\n".join(faults) or f"layers: {len(paths)} files keep to docs/architecture.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
