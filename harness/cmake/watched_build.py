# SPDX-License-Identifier: Apache-2.0
"""watched_build.py cmake --build FOLDER...: a build by Ninja whose output is no terminal.

Every 10 seconds (GRADVERIFY_LIFE says another number) a line says how many steps are done of all, and
which one runs the longest. Ninja's own lines are swallowed; what compilers and failed steps say is
passed on. Exits as the command does.

With GRADVERIFY_PROBE, a command, that is run again and again beside the build, and the build's folder
gets a file `probes`: how many times the probe's processor time all steps took. Both are of the same
minutes, so a machine that others slow down measures the same.
"""

import os
import pathlib
import re
import resource
import shlex
import signal
import statistics
import subprocess
import sys
import threading
import time

STEP = re.compile(r"^\[(\d+)/(\d+)\] ")


def stat(process):
    """Name, parent and start in clock ticks of a process."""
    text = (process / "stat").read_text()
    name, rest = text[text.index("(") + 1 :].rsplit(")", 1)
    fields = rest.split()
    return name, int(fields[1]), int(fields[19])


def longest_step(root):
    """Seconds that the oldest child of the Ninja below `root` runs, and what it makes; or None."""
    processes = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            processes[int(process.name)] = stat(process)
        except (OSError, ValueError):
            continue  # it has ended
    steps = [pid for pid, (_, parent, _) in processes.items()
             if processes.get(parent, ("",))[0] == "ninja" and
             root in (parent, processes[parent][1])]
    if not steps:
        return None
    oldest = min(steps, key=lambda pid: processes[pid][2])
    try:
        words = pathlib.Path(f"/proc/{oldest}/cmdline").read_text().split("\0")
        words = shlex.split(words[2]) if words[1:2] == ["-c"] else words
        up = float(pathlib.Path("/proc/uptime").read_text().split()[0])
    except (OSError, ValueError):
        return None  # it has ended
    made = [word for word in words if re.search(r"\.(cpp|cxx|hxx|cu)$", word)]
    name = pathlib.Path(made[-1] if made else words[0]).name if words else "a step"
    return up - processes[oldest][2] / os.sysconf("SC_CLK_TCK"), name


def children_seconds():
    """Processor time of all processes that this one has waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main():
    interval = float(os.environ.get("GRADVERIFY_LIFE", 10))
    start = time.monotonic()
    build = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace",
                             env={**os.environ, "NINJA_STATUS": "[%f/%t] "})
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: build.send_signal(number))
    done = ["0", "?"]

    def live():
        while True:
            time.sleep(interval)
            line = f"run: {done[0]} of {done[1]} steps built in {time.monotonic() - start:.0f} s"
            if step := longest_step(build.pid):
                line += f"; the longest that runs: {step[1]}, for {step[0]:.0f} s"
            print(line, file=sys.stderr, flush=True)

    threading.Thread(target=live, daemon=True).start()
    probe = os.environ.get("GRADVERIFY_PROBE")
    probes, ended = [], threading.Event()

    def measure():
        while not ended.wait(1.0 if not probes else 2 * interval):
            before = children_seconds()  # the build's are not counted before its end
            subprocess.run(shlex.split(probe), check=True)
            probes.append(children_seconds() - before)

    prober = threading.Thread(target=measure)
    if probe:
        prober.start()
    for line in build.stdout:
        if step := STEP.match(line):
            done[:] = step.groups()
        elif line != "ninja: no work to do.\n":
            sys.stderr.write(line)
            sys.stderr.flush()
    if probe:
        ended.set()
        prober.join()
    before = children_seconds()
    code = build.wait()
    if probes:
        took = (children_seconds() - before) / statistics.fmean(probes)
        (pathlib.Path(sys.argv[sys.argv.index("--build") + 1]) / "probes").write_text(f"{took:.0f}")
    sys.exit(code if code >= 0 else 128 - code)


main()
