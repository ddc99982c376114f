# SPDX-License-Identifier: Apache-2.0
"""watched_build.py cmake --build FOLDER...: a build by Ninja whose output is no terminal.

Every 10 seconds (GRADVERIFY_LIFE says another number) a line says how many steps are done of all, and
which one runs the longest. Ninja's own lines are swallowed; what compilers and failed steps say is
passed on. Exits as the command does. `processor_seconds` in the build's folder gets a line with what
the build took.
"""

import os
import pathlib
import re
import resource
import shlex
import signal
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
    for line in build.stdout:
        if step := STEP.match(line):
            done[:] = step.groups()
        elif line != "ninja: no work to do.\n":
            sys.stderr.write(line)
            sys.stderr.flush()
    code = build.wait()
    took = resource.getrusage(resource.RUSAGE_CHILDREN)
    if (folder := pathlib.Path(sys.argv[sys.argv.index("--build") + 1])).is_dir():
        with (folder / "processor_seconds").open("a", encoding="utf-8") as log:
            log.write(f"{took.ru_utime + took.ru_stime:.1f}\n")
    sys.exit(code if code >= 0 else 128 - code)


main()
