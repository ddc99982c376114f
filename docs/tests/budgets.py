# SPDX-License-Identifier: Apache-2.0
"""Holds the tree and the first verdict's build to their budgets, and prints what each takes.

`./run budgets` prints the lines of each building. With the folder of a build that was measured, as CI
has it, it prints also what that cost, in units of one file that was compiled beside it again and again:
GRADVERIFY_PROBE='python3 docs/tests/budgets.py probe' ./run verify | cat
in a fresh clone. Exit code 1 where a budget is exceeded.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Lines that git tracks: what is counted, what is not, and the most there may be. They are what there
# is, to be lowered with what goes: 46,000, 36,000, 9,000 and 142,000 are the aim.
LINES = (
    ("harness without simt", "harness/", "harness/simt/", 55_800),
    ("simt", "harness/simt/", None, 42_000),
    ("kernels without fast", "kernels/", "kernels/fast/", 8_700),
    ("everything", "", None, 162_700),
)
# What the first verdict's build costs, in probes: 407 measured, and a tenth. A change that makes it a
# tenth dearer says so here.
FIRST_VERDICT_PROBES = 450
PROBE = """
#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>
int main(int argc, char** argv) {
    std::map<std::string, std::vector<std::string>> found;
    for (int i = 1; i < argc; ++i) found[argv[i]].push_back(argv[i]);
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


def probe():
    """Compiles the probe."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "probe.cpp"
        source.write_text(PROBE, encoding="utf-8")
        subprocess.run(["c++", "-std=c++20", "-O1", "-c", str(source), "-o", str(source) + ".o"],
                       check=True)


def first_verdict(build):
    """Prints what the first verdict's build cost; yields what is wrong with it."""
    if not (build / "probes").is_file():
        print("budgets: no build of a second or more was measured there")
        return
    probes = int((build / "probes").read_text(encoding="utf-8"))
    print(f"budgets: first verdict's build {probes} probes; {FIRST_VERDICT_PROBES} are expected")
    if probes > 1.1 * FIRST_VERDICT_PROBES:
        yield (f"the first verdict's build costs {probes} probes for {FIRST_VERDICT_PROBES}: make it "
               "lighter, or write the new number on purpose")
    elif probes < 0.5 * FIRST_VERDICT_PROBES:
        print("budgets: a compiler cache served that build, so it was not measured")


def main():
    if sys.argv[1:] == ["probe"]:
        return probe()
    faults = list(lines())
    if len(sys.argv) > 1:
        faults += first_verdict(pathlib.Path(sys.argv[1]))
    print("\n".join(f"budgets: EXCEEDED: {fault}" for fault in faults) or "budgets: kept")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
