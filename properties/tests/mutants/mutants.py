# SPDX-License-Identifier: Apache-2.0
"""Mutates the code that decides verdicts, runs its tests against each mutant, and reports.

All mutants are compiled into one copy of the sources, under build-mutants/, each behind a run-time
switch (switch.hpp). Each test case runs once without a mutant, which shows its time and the mutants
that it reaches. Then each mutant runs the test cases that reach it, those of its folder first, then
those that killed most in their time, until one fails. A mutant that takes several times as long counts as killed.

A survivor that equivalent.txt does not list with a reason is an error, and so is a listed one that
its unit tests kill or that no longer exists.
Exit codes: 0; 1 for such an error, for more than 5 % of survivors where all files are selected, or a
test that fails unmutated; 2 for bad usage; 3 where building fails.
"""

import argparse
import concurrent.futures
import dataclasses
import fnmatch
import math
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from find_mutants import EDIT, ends_of, find_mutants, one_line

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build-mutants"
COPIED = ("harness", "kernels", "reference", "properties", "CMakeLists.txt",
          "docs/formulas.md", "docs/tests/CMakeLists.txt")  # fmt: skip
BINARIES = (
    "gradverify_harness_tests",
    "gradverify_properties_tests",
    "gradverify_suite_tests",
)
SURVIVORS_MOST = 0.05
# Test cases shorter than this share a process.
SHORT_SECONDS = 0.05
# Tests that take longer are left out: the searches for seeded bugs and the longest draws.
LONGEST_SECONDS = 6.0
KILLED = 128 + 9
# The stacks of threads that a test starts count, too.
MEMORY_BYTES = 16 << 30
NUMBERS_PER_FILE = 10000

# What decides a verdict: expected values and their bounds, data and whether it is exact, the
# properties, and what a launch runs in.
DECIDERS = (
    "harness/cases/bound.hpp", "harness/cases/compare.cpp", "harness/cases/sensitivity.cpp",
    "harness/devices/arena.cpp", "harness/devices/launch.cpp", "harness/devices/poison.cpp",
    "harness/numbers/bounded_functions.hpp", "harness/numbers/rounding_bound.hpp",
    "harness/numbers/element_bits.cpp",
    "harness/numbers/autodiff/*.hpp", "harness/numbers/autodiff/*.cpp",
    "harness/operators/derived_operator.cpp", "harness/registry/factors.cpp",
    "harness/run/row_verdict.cpp",
    "properties/*.cpp", "properties/checking/*.cpp", "properties/data/*.cpp",
)  # fmt: skip


@dataclasses.dataclass
class TestCase:
    binary: str
    file: str
    name: str
    seconds: float = 0.0  # of the processor, without a mutant
    reached: bytes = b""
    runs: int = 2
    kills: int = 1

    def run_seconds_per_kill(self):
        return self.seconds * self.runs / self.kills


def fail(code, message):
    print(f"mutants: {message}", file=sys.stderr)
    sys.exit(code)


# ---- the mutated copy


def deciders():
    """Their paths, from the root, in order."""
    found = {path for pattern in DECIDERS for path in ROOT.glob(pattern)}
    paths = sorted(str(path.relative_to(ROOT)) for path in found)
    return [path for path in paths if not path.endswith(("_test.cpp", "/rapidcheck.cpp"))]


def write_if_new(path, content):
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def find_in(numbered_path):
    index, path = numbered_path
    return find_mutants(ROOT, path, index * NUMBERS_PER_FILE + 1)


def write_sources(files):
    """The copy of the sources with every mutant in it; the mutants."""
    with multiprocessing.Pool() as pool:
        found = pool.map(find_in, enumerate(files), chunksize=1)
    mutated = {path: text for path, (_, text) in zip(files, found)}
    wanted = set()
    for top in COPIED:
        inside = (ROOT / top).rglob("*") if (ROOT / top).is_dir() else [ROOT / top]
        for path in inside:
            if not path.is_file() or path.suffix == ".pyc":
                continue
            name = path.relative_to(ROOT)
            wanted.add(name)
            text = mutated.get(str(name))
            content = text.encode() if text is not None else path.read_bytes()
            write_if_new(BUILD / "source" / name, content)
            shutil.copymode(path, BUILD / "source" / name)
    for path in (BUILD / "source").rglob("*"):
        if path.is_file() and path.relative_to(BUILD / "source") not in wanted:
            path.unlink()
    return [mutant for mutants, _ in found for mutant in mutants]


def build():
    source, build_directory = BUILD / "source", BUILD / "build"
    launcher = shutil.which("ccache") or ""
    configure = ["cmake", "-S", source, "-B", build_directory, "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DGRADVERIFY_CUDA=OFF",
                 "-DGRADVERIFY_BUILD_TESTS=ON", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                 "-DCMAKE_CXX_FLAGS=-w -Wno-narrowing -D_GLIBCXX_ASSERTIONS",
                 "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1",
                 "-DGRADVERIFY_CPU_FLAGS=-O1 -g1", "-DGRADVERIFY_INSTALL=OFF",
                 "-DGRADVERIFY_UNITY_BUILD=OFF"]  # fmt: skip
    make = ["cmake", "--build", build_directory, "--target", *BINARIES, "--parallel",
            str(os.cpu_count())]  # fmt: skip
    for command in (configure, make):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            print(done.stdout.decode(), file=sys.stderr)
            fail(3, "the mutated copy does not build, as above")


# ---- running tests


def run_tests(tests, environment, seconds, wall_seconds=None):
    """Runs test cases of one binary in a process: its exit status and processor time."""
    limit = int(5 * seconds) + 2
    # A comma would begin another name; a question mark stands for any character.
    names = ",".join(test.name.replace(",", "?") for test in tests)
    # The wall clock ends what waits for ever; a busy machine must not kill.
    command = ["timeout", "--signal=KILL", str(wall_seconds or 300 + 20 * limit), "prlimit", f"--cpu={limit}",
               f"--data={MEMORY_BYTES}", "--core=0", BUILD / "build" / tests[0].binary,
               f"--test-case={names}", "--abort-after=1"]  # fmt: skip
    process = subprocess.Popen(
        command, env=os.environ | environment, cwd=BUILD, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def list_tests():
    tests = []
    for binary in BINARIES:
        command = [BUILD / "build" / binary, "--list-test-cases", "--reporters=xml"]
        listing = subprocess.run(command, capture_output=True, check=True).stdout
        for case in xml.etree.ElementTree.fromstring(listing).iter("TestCase"):
            path = (BUILD / "build" / case.get("filename")).resolve()
            file = str(path.relative_to(BUILD / "source"))
            tests.append(TestCase(binary, file, case.get("name")))
    return tests


def run_unmutated(test, numbers):
    """Adds to a test case how long it takes and what it reaches; its name where it fails."""
    with tempfile.NamedTemporaryFile(dir=BUILD) as reached:
        reached.truncate(numbers)
        code, test.seconds = run_tests(
            [test], {"GRADVERIFY_MUTANT": "0", "GRADVERIFY_MUTANTS_REACHED": reached.name},
            LONGEST_SECONDS, wall_seconds=60,
        )  # fmt: skip
        test.reached = pathlib.Path(reached.name).read_bytes()
    if abs(code) in (KILLED, signal.SIGKILL, signal.SIGXCPU):
        test.seconds = math.inf
        return None
    return None if code == 0 else f"{test.file}: {test.name}"


def batches_of(mutant, tests, unit_alone):
    """The test cases that reach a mutant, in the order in which they run, by process."""
    reaching = [test for test in tests if test.reached[mutant.number]]
    folder = pathlib.PurePath(mutant.file).parent
    for is_unit in (True,) if unit_alone else (True, False):
        some = [test for test in reaching if test.seconds < LONGEST_SECONDS
                and (pathlib.PurePath(test.file).parent == folder) == is_unit]  # fmt: skip
        for binary in BINARIES:
            batch = [t for t in some if t.binary == binary and t.seconds < SHORT_SECONDS]
            if batch:
                yield batch
        longer = [test for test in some if test.seconds >= SHORT_SECONDS]
        yield from ([test] for test in sorted(longer, key=TestCase.run_seconds_per_kill))


def is_killed(mutant, tests, unit_alone):
    for batch in batches_of(mutant, tests, unit_alone):
        code, _ = run_tests(batch, {"GRADVERIFY_MUTANT": str(mutant.number)},
                            sum(test.seconds for test in batch))  # fmt: skip
        for test in batch:
            test.runs += 1
            test.kills += code != 0
        if code != 0:
            return True
    return False


# ---- the list of equivalent mutants


def read_equivalent(path):
    """The listed mutants. Blocks between empty lines begin with the file; a line for each mutant,
    `function: edit`, is followed by an indented reason."""
    listed = set()
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        file, *lines = [line for line in block.splitlines() if not line.startswith("#")] or [""]
        if file and (not lines or not lines[-1].startswith("    ")):
            fail(1, f"{path.name}: needs a file, mutants and a reason:\n{block}")
        for line in lines:
            function, _, edit = line.partition(": ")
            if line.startswith("    "):
                continue
            if not EDIT.search(edit):
                fail(1, f"{path.name}: there is no «old => new» in\n{line}")
            listed.add((file, function, *ends_of(edit)))
    return listed


def stale_of(listed, mutants, survivors, selected):
    """Prints the listed mutants that are no survivors, and returns their number."""
    exist = {mutant.key() for mutant in mutants}
    stale = {key for key in listed if key[0] in selected} - {m.key() for m in survivors}
    for key in sorted(stale):
        file, function, was, now = key
        print(f"{file}: {function}   (listed, but {'killed' if key in exist else 'not there'})")
        print(f"- {was}\n+ {now}\n")
    return len(stale)


def main():
    parser = argparse.ArgumentParser(prog="./run mutants", description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these; may be a glob")
    parser.add_argument("--quick", action="store_true",
                        help="run the tests in each file's folder alone")  # fmt: skip
    arguments = parser.parse_args()
    patterns = arguments.files or ["*"]
    files = deciders()
    selected = [f for f in files if any(fnmatch.fnmatch(f, p) for p in patterns)]
    if not selected:
        fail(2, "no such file is mutated; there are " + ", ".join(files))

    listed = read_equivalent(ROOT / "properties/tests/mutants/equivalent.txt")
    start = time.monotonic()
    mutants = [mutant for mutant in write_sources(files) if mutant.file in selected]
    build()
    print(f"{len(mutants)} mutants, built after {time.monotonic() - start:.0f} s", flush=True)
    tests = list_tests()
    unlisted, survivors = 0, []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        numbers = len(files) * NUMBERS_PER_FILE
        broken = [name for name in pool.map(lambda test: run_unmutated(test, numbers), tests) if name]
        if broken:
            fail(1, "these tests fail without a mutant:\n" + "\n".join(broken))
        killed = pool.map(
            lambda mutant: is_killed(mutant, tests, arguments.quick or mutant.key() in listed),
            mutants,
        )
        for mutant in (mutant for mutant, is_dead in zip(mutants, killed) if not is_dead):
            survivors.append(mutant)
            if mutant.key() in listed:
                continue
            unlisted += 1
            reached = any(test.reached[mutant.number] for test in tests)
            why = "survives, not listed" if reached else "no test reaches it"
            print(f"{mutant.file}, line {mutant.line}: {why}\n{mutant.function}: {mutant.edit}\n",
                  flush=True)  # fmt: skip
    wrong = unlisted + stale_of(listed, mutants, survivors, selected)
    share = len(survivors) / len(mutants)
    print(f"{len(survivors)} of {len(mutants)} survive ({100 * share:.1f} %), "
          f"after {time.monotonic() - start:.0f} s")  # fmt: skip
    if not arguments.files and share > SURVIVORS_MOST:
        fail(1, f"more than {100 * SURVIVORS_MOST:.0f} % survive")
    if wrong:
        fail(1, f"{wrong} mutants are not what properties/tests/mutants/equivalent.txt says; see above")


if __name__ == "__main__":
    main()
