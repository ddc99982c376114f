# SPDX-License-Identifier: Apache-2.0
"""Holds the tree and the first verdict's build to their budgets, and prints what each takes.

`./run budgets` prints the lines of each building. With a build folder that holds nothing but the
first verdict's steps, as CI has it, it prints also what they cost, in units of one file that is
compiled here and now: on a slower machine both take longer. Exit code 1 where a budget is exceeded.
"""

import pathlib
import resource
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Lines that git tracks: what is counted, what is not, and the most there may be. They are what there
# is, to be lowered with what goes: 46,000, 36,000, 9,000 and 142,000 are the aim.
LINES = (
    ("harness without simt", "harness/", "harness/simt/", 49_300),
    ("simt", "harness/simt/", None, 40_100),
    ("kernels without fast", "kernels/", "kernels/fast/", 8_700),
    ("everything", "", None, 150_700),
)
# What the first verdict's build costs, in probes. A change that makes it a tenth dearer says so here.
FIRST_VERDICT_PROBES = 125.0
PROBE = """
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main(int argc, char** argv) {
    std::map<std::string, std::vector<std::string>> found;
    for (int i = 1; i < argc; ++i)
        if (std::regex_match(argv[i], std::regex("[a-z]+"))) found[argv[i]].push_back(argv[i]);
    std::function<std::size_t()> size = [&] { return found.size(); };
    for (auto& [name, words] : found) std::sort(words.begin(), words.end());
    return static_cast<int>(size());
}
"""


def lines():
    """Prints the lines of each building; yields those over their budget."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    names = [name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()]
    if not names:  # a copy without git
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*") if path.is_file() and
                 not path.relative_to(ROOT).parts[0].startswith(("build", "."))]
    counts = {name: (ROOT / name).read_bytes().count(b"\n") for name in names}
    for title, inside, outside, most in LINES:
        count = sum(n for name, n in counts.items()
                    if name.startswith(inside) and not (outside and name.startswith(outside)))
        print(f"budgets: {title:<21}{count:>9,} of {most:,} lines")
        if count > most:
            yield f"{title} has {count:,} lines, {count - most:,} more than its budget"


def probe_seconds(compiler):
    """The least processor time of five compilations of the probe."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "probe.cpp"
        source.write_text(PROBE, encoding="utf-8")
        times = []
        for _ in range(5):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([*shlex.split(compiler), "-std=c++20", "-O1", "-c", str(source), "-o",
                            str(source) + ".o"], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def steps_seconds(build):
    """The seconds of all steps in Ninja's log but nvcc's; one with several outputs counts once."""
    steps = {}
    for line in (build / ".ninja_log").read_text(encoding="utf-8").splitlines()[1:]:
        begin, end, _, output, command = line.split("\t")
        if ".cuda" in output:
            continue
        steps[command, begin, end] = (int(end) - int(begin)) / 1000
    return sum(steps.values())


def first_verdict(build):
    """Prints what the first verdict's build costs; yields what is wrong with it."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    compiler = next(line.split("=", 1)[1] for line in cache.splitlines()
                    if line.startswith("CMAKE_CXX_COMPILER:"))
    seconds, probe = steps_seconds(build), probe_seconds(compiler)
    probes = seconds / probe
    print(f"budgets: first verdict's build {probes:.0f} probes of {probe:.2f} s, {seconds:.0f} s in "
          f"all; {FIRST_VERDICT_PROBES:.0f} are expected")
    if probes > 1.1 * FIRST_VERDICT_PROBES:
        yield (f"the first verdict's build costs {probes:.0f} probes for "
               f"{FIRST_VERDICT_PROBES:.0f}: make it lighter, or write the new number on purpose")
    elif probes < 0.5 * FIRST_VERDICT_PROBES:
        print("budgets: a compiler cache served that build, so it was not measured")


def main():
    faults = list(lines())
    if len(sys.argv) > 1:
        faults += first_verdict(pathlib.Path(sys.argv[1]))
    print("\n".join(f"budgets: EXCEEDED: {fault}" for fault in faults) or "budgets: kept")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
