#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that end before their time: killed at random moments, on a full disk, in a folder that can't
be written. Each leaves every verdict that it printed in its result file, and a clear message.

Usage: ended_runs_test.py SUITE_TESTS MISBEHAVING_TESTS [KILLS]
"""
import json
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

EXECUTABLE, MISBEHAVING = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
failures = []


def require(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def start(folder, *words, **options):
    return subprocess.Popen(
        [EXECUTABLE, "check", "relu*", "--device", "cpu", "--cases", "60", "--seed", "7",
         *words], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def failed_rows(path):
    """The rows that a file has a failure of; its last line may be cut off."""
    rows = set()
    for line in path.read_text().splitlines():
        try:
            read = json.loads(line)
        except json.JSONDecodeError:
            continue
        if read["kind"] == "verdict" and read["verdict"] == "failed":
            rows.add((read["kernel"], read["property"]))
    return rows


def printed_failures(text):
    """The kernels and properties of the failures in a terminal's text."""
    found = set()
    for block in re.split(r"\n(?=FAILED )", text):
        kernel = re.search(r"^FAILED (\S+)$", block, re.M)
        for line in re.findall(r"^  (?:property|also) +(\w+)", block, re.M):
            if kernel:
                found.add((kernel[1], line))
    return found


def require_kept(path, printed, what):
    missing = printed - failed_rows(path)
    require(not missing, f"{what}: printed, and not in the file: {sorted(missing)}")


def try_kill(folder, seconds):
    path = folder / f"killed_{seconds:.3f}.json"
    run = start(folder, "--json", path.name)
    time.sleep(seconds)
    run.kill()
    out, _ = run.communicate()
    if not path.exists() or not path.read_text():
        return  # it had not begun
    require_kept(path, printed_failures(out), f"killed after {seconds:.3f} s")
    told = subprocess.run([EXECUTABLE, "report", path.name], cwd=folder, text=True,
                          capture_output=True)
    has_ended = '"kind":"summary"' in path.read_text()
    require(told.returncode == 1 and not told.stderr,
            f"report of a run killed after {seconds:.3f} s: {told.returncode} {told.stderr}")
    require(has_ended or "missing: " in told.stdout or "ended before its summary" in told.stdout,
            f"report of a run killed after {seconds:.3f} s must say what is missing: {told.stdout}")


def errors_of(run):
    """What it says on stderr, without the signs of life of a slow machine."""
    return "".join(line for line in run.communicate()[1].splitlines(keepends=True)
                   if not re.match(r"\d+ s: ", line))


def try_full(folder):
    """A file that may not grow beyond some size, as on a full disk."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    path = folder / "full.json"
    run = start(folder, "--json", path.name, preexec_fn=limit)
    out, err = run.communicate()
    require(run.returncode == 3 and err.endswith("gradverify: can't write full.json: File too large\n"),
            f"a full disk: {run.returncode} {err!r}")
    require_kept(path, printed_failures(out), "full disk")
    told = subprocess.run([EXECUTABLE, "report", path.name], cwd=folder, text=True,
                          capture_output=True)
    require(told.returncode == 1 and "missing: " in told.stdout, f"report of it: {told}")


def try_unwritable(folder):
    for option in ("--json", "--html", "--junit", "--sarif"):
        for path, why in (("/dev/full", "No space left on device"),
                          ("/proc/gradverify", "No such file or directory"), (".", "Is a directory")):
            run = start(folder, option, path)
            err = errors_of(run)
            require(run.returncode == 3 and err == f"gradverify: can't write {path}: {why}\n",
                    f"{option} {path}: {run.returncode} {err!r}")


def judged(*words):
    """What `judge` says, its exit code, and the seconds that it takes."""
    begin = time.monotonic()
    run = subprocess.run([*words, "--device", "cpu"], text=True, capture_output=True)
    return json.loads(run.stdout), run.returncode, time.monotonic() - begin


def try_judge():
    it, code, _ = judged(EXECUTABLE, "judge", "relu.grad_input/bug_mask_from_zero", "--time", "20s")
    first = it["failures"][0] if it["failures"] else {}
    require(it["verdict"] == "failed" and code == 1 and first.get("problem") == "n=1"
            and first.get("minimal") and first.get("replay"), f"judge of a wrong kernel: {it}")
    # Each of its cases takes the ten seconds that a case may take.
    limit = 4.0
    it, code, seconds = judged(MISBEHAVING, "judge", "conv.grad_bias/spins_on_host", "--time", f"{limit}s")
    require(it["time_ran_out"] and it["verdict"] == "unknown" and code == 1 and
            it["seconds"] < limit, f"judge of a kernel that hangs: {seconds} s, {it}")


def main():
    chosen = random.Random()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        begin = time.monotonic()
        out, _ = start(folder, "--json", "whole.json").communicate()
        whole = time.monotonic() - begin
        require(len(printed_failures(out)) > 5, "the seeded bugs must fail")
        require_kept(folder / "whole.json", printed_failures(out), "a whole run")
        for _ in range(KILLS):
            try_kill(folder, chosen.uniform(0.02, whole))
        try_judge()
        try_full(folder)
        try_unwritable(folder)
    print(f"{KILLS} kills of runs of {whole:.1f} s, full and unwritable files")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
