#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times gradverify's convolutions and PyTorch's (cuDNN, benchmark mode) on one GPU, in one run.

For each problem, type and pass the fastest kernel of ours, what it takes, and the ratio: PyTorch's
time over ours; LeNet's two problems in float32 alone. Half types and tf32 lie channels last, float32
as PyTorch has it; calls are replayed from CUDA graphs, on buffers that outgrow the cache. PyTorch
adds a bias by a kernel of its own, so its forward pass has none here; ours has. With --verify the
kernels of the table are then held to the reference on the very problem, many at once, which takes
minutes. Prints Markdown; rows go to stderr as they come.

    convolution_ratios.py build/gradverify [--verify]
"""

import argparse
import concurrent.futures
import fnmatch
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile

import torch

PROBLEMS = [
    dict(n=128, c=128, k=256, size=71, filter=3, stride=2, padding=1),
    dict(n=64, c=64, k=64, size=56, filter=3, stride=1, padding=1),
    dict(n=64, c=256, k=256, size=14, filter=3, stride=1, padding=1),
    dict(n=64, c=256, k=64, size=56, filter=1, stride=1, padding=0),
    dict(n=64, c=3, k=64, size=224, filter=7, stride=2, padding=3),
    dict(n=256, c=1, k=6, size=28, filter=5, stride=1, padding=2),
    dict(n=256, c=6, k=16, size=14, filter=5, stride=1, padding=0),
]
LARGE = 5  # those behind are LeNet's
TYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "tf32": torch.float32, "f32": torch.float32}
PASSES = ["forward", "grad_input", "grad_weight", "grad_bias"]
# Of our kernels those that may be the fastest.
VARIANTS = ["wgmma*", "small_images", "one_launch*"]
COPIES_BYTES = 200e6


def text_of(p):
    return ("n={n},c={c},k={k},in={size}x{size},filter={filter}x{filter},"
            "stride={stride},padding={padding}").format(**p)  # fmt: skip


def short(p):
    return "N{n} C{c} {size}x{size} K{k} {filter}x{filter} s{stride} p{padding}".format(**p)


def torch_call(p, dtype, name, layout):
    """A call of PyTorch's on tensors of its own, and their bytes."""
    out = (p["size"] + 2 * p["padding"] - p["filter"]) // p["stride"] + 1
    shapes = {"x": (p["n"], p["c"], p["size"], p["size"]), "y": (p["n"], p["k"], out, out),
              "w": (p["k"], p["c"], p["filter"], p["filter"])}  # fmt: skip
    x, y, w = (torch.randn(shapes[t], device="cuda", dtype=dtype).to(memory_format=layout)
               for t in "xyw")  # fmt: skip
    stride, padding = [p["stride"]] * 2, [p["padding"]] * 2
    mask = [name == wanted for wanted in PASSES[1:]]
    nbytes = sum(t.numel() * t.element_size() for t in (x, y, w))
    if name == "forward":
        return lambda: torch.nn.functional.conv2d(x, w, None, stride, padding), nbytes
    if name == "grad_bias":
        return lambda: y.sum((0, 2, 3)), nbytes
    return lambda: torch.ops.aten.convolution_backward(
        y, x, w, [p["k"]], stride, padding, [1, 1], False, [0, 0], 1, mask), nbytes  # fmt: skip


def seconds_of(make_call, nbytes):
    """A call's time, replayed from a graph over copies of its tensors, which have so many bytes."""
    copies = [make_call() for _ in range(1 + min(15, int(COPIES_BYTES / nbytes)))]
    repeats = max(len(copies), 4)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for copy in copies:
            copy()
    stream.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(repeats):
            copies[i % len(copies)]()
    samples = []
    for _ in range(35):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) * 1e-3 / repeats)
    return statistics.median(samples[5:])


def torch_seconds(p, dtype, name, layout):
    nbytes = torch_call(p, dtype, name, layout)[1]
    return seconds_of(lambda: torch_call(p, dtype, name, layout)[0], nbytes)


def bench(gradverify, kernels, problems):
    """What `bench` says of each kernel and problem that it timed."""
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        command = [gradverify, "bench", *kernels, "--device", "cuda", "--no-verify",
                   "--data", "decimals", "--graph", "--repetitions", "20",
                   "--json", file.name]  # fmt: skip
        for problem in problems:
            command += ["--problem", problem]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        lines = [json.loads(line) for line in file]
    timed = [l for l in lines if l["kind"] == "bench" and l["state"] == "timed"]
    if not timed:
        print(f"{' '.join(command)} timed nothing", file=sys.stderr)
    return timed


def type_of(kernel):
    """The type of TYPES that a kernel of ours multiplies, or None."""
    words = set(kernel.split("/")[1].split("_"))
    if words & {"cudnn", "auto", "f64", "f8", "all"}:
        return None
    return next((name for name in ("f16", "bf16", "tf32") if name in words), "f32")


def kernels_of(gradverify, name, a):
    """Names of our kernels of a pass that are to be timed."""
    text = subprocess.run([gradverify, "list", f"conv.{name}/*"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout  # fmt: skip
    names = [line for line in text.splitlines() if line.startswith("conv.")]
    return [kernel for kernel in names if type_of(kernel) in a.types
            and any(fnmatch.fnmatch(kernel.split("/")[1], glob) for glob in a.variants)]  # fmt: skip


class Row:
    """A problem, a type and a pass: what PyTorch takes, and our kernels."""

    def __init__(self, number, type_name, name, timed):
        self.number, self.type_name, self.name = number, type_name, name
        self.problem = p = PROBLEMS[number - 1]
        tf32 = type_name == "tf32"
        torch.backends.cudnn.conv.fp32_precision = "tf32" if tf32 else "ieee"
        layout = torch.contiguous_format if type_name == "f32" else torch.channels_last
        self.theirs = torch_seconds(p, TYPES[type_name], name, layout)
        mine = {l["kernel"]: l["seconds"] for l in timed
                if same_problem(l["problem"], p) and type_of(l["kernel"]) == type_name}  # fmt: skip
        self.kernel = min(mine, key=mine.get, default=None)
        self.ours = mine.get(self.kernel)
        self.verdict = ""

    def work(self):
        """About as many products as the reference computes."""
        p = self.problem
        return p["n"] * p["c"] * p["k"] * (p["size"] * p["filter"] / p["stride"]) ** 2

    def verify(self, gradverify):
        """Holds the kernel to the reference on the very problem."""
        command = [gradverify, "check", self.kernel, "--property", "matches_reference",
                   "--device", "cuda", "--problem", text_of(self.problem), "--cases", "1",
                   "--seed", "1"]  # fmt: skip
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout
        self.verdict = ", verified" if "1 rows: 1 passed" in said else ", FAILED"
        return self

    def ratio(self):
        return self.theirs / self.ours

    def line(self):
        text = f"| {short(self.problem)} | {self.type_name} | {self.name} | {self.theirs * 1e6:.1f} | "
        if self.kernel is None:
            return text + "| | |"
        return text + (f"{self.ours * 1e6:.1f} | {self.ratio():.2f} "
                       f"| `{self.kernel.split('/')[1]}`{self.verdict} |")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("gradverify", help="the executable")
    parser.add_argument("--types", nargs="+", default=list(TYPES), choices=list(TYPES))
    parser.add_argument("--passes", nargs="+", default=PASSES, choices=PASSES)
    parser.add_argument("--problems", nargs="+", type=int, default=range(1, len(PROBLEMS) + 1),
                        help="their numbers, from 1 on")  # fmt: skip
    parser.add_argument("--variants", nargs="+", default=VARIANTS, help="globs of our kernels' names")
    parser.add_argument("--verify", action="store_true")
    a = parser.parse_args()

    torch.backends.cudnn.benchmark = True
    problems = [PROBLEMS[number - 1] for number in a.problems]
    rows = []
    for name in a.passes:
        kernels = kernels_of(a.gradverify, name, a)
        timed = bench(a.gradverify, kernels, map(text_of, problems)) if kernels else []
        for number in a.problems:
            for type_name in a.types:
                if type_name != "f32" and (number > LARGE or (name, type_name) == ("grad_bias", "tf32")):
                    continue
                rows.append(Row(number, type_name, name, timed))
                print(rows[-1].line(), file=sys.stderr, flush=True)
    torch.cuda.empty_cache()
    if a.verify:
        of_ours = sorted((row for row in rows if row.kernel is not None), key=lambda row: -row.work())
        with concurrent.futures.ThreadPoolExecutor(min(16, os.cpu_count())) as pool:
            for row in pool.map(lambda row: row.verify(a.gradverify), of_ours):
                print(row.line(), file=sys.stderr, flush=True)

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    print("| problem | type | pass | PyTorch, us | ours, us | ratio | kernel |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    ratios = {}
    for row in rows:
        print(row.line())
        if row.kernel is not None and row.name != "grad_bias":
            key = (row.type_name, "large problems" if row.number <= LARGE else "LeNet")
            ratios.setdefault(key, []).append(row.ratio())
    print()
    for (type_name, which), all_of in ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, all_of)))
        print(f"{type_name}, {which}, without the bias: {len(all_of)} ratios, "
              f"geometric mean {mean:.2f}, least {min(all_of):.2f}")  # fmt: skip
    return any(row.verdict == ", FAILED" for row in rows)


def same_problem(text, p):
    """`bench` prints a problem without what has its usual value."""
    words = dict(word.split("=") for word in text.split(","))
    number = lambda key, usual: int(words.get(key, str(usual)).split("x")[0])
    return (number("n", 1), number("c", 1), number("k", 1), number("in", 1), number("filter", 1),
            number("stride", 1), number("padding", 0)) == (
        p["n"], p["c"], p["k"], p["size"], p["filter"], p["stride"], p["padding"])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
