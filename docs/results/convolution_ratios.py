#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times gradverify's convolutions and PyTorch's (cuDNN, benchmark mode) on one GPU, in one run.

For each problem, type and pass the fastest kernel of ours, what it takes, and the ratio: PyTorch's
time over ours. Half types and tf32 lie channels last, float32 as PyTorch has it; calls are replayed
from CUDA graphs, on buffers that outgrow the cache. PyTorch adds a bias by a kernel of its own, so
its forward pass has none here; ours has. With --verify the kernels of the table are held
to the reference on the very problem, which takes minutes. Prints Markdown.

    convolution_ratios.py build/gradverify [--verify]
"""

import argparse
import fnmatch
import json
import math
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


def is_of(kernel, type_name):
    """Whether the kernel of ours multiplies what the column says."""
    variant = kernel.split("/")[1]
    words = set(variant.split("_"))
    if words & {"cudnn", "auto", "f64", "f8", "all"}:
        return False
    types = words & {"f16", "bf16", "tf32"}
    return types == ({type_name} if type_name != "f32" else set())


def kernels_of(gradverify, name, variants):
    """Names of our kernels of a pass that a glob matches."""
    text = subprocess.run([gradverify, "list", f"conv.{name}/*"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout  # fmt: skip
    names = [line for line in text.splitlines() if line.startswith("conv.")]
    return [kernel for kernel in names
            if any(fnmatch.fnmatch(kernel.split("/")[1], glob) for glob in variants)]  # fmt: skip


def ours(gradverify, name, variants, problems):
    """Seconds by kernel and problem, from `bench`."""
    kernels = kernels_of(gradverify, name, variants)
    return bench(gradverify, kernels, map(text_of, problems)) if kernels else []


def verify(gradverify, kernel, p):
    command = [gradverify, "check", kernel, "--property", "matches_reference", "--device", "cuda",
               "--problem", text_of(p), "--cases", "1", "--seed", "1"]  # fmt: skip
    return subprocess.run(command, stdout=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("gradverify", help="the executable")
    parser.add_argument("--types", nargs="+", default=list(TYPES), choices=list(TYPES))
    parser.add_argument("--passes", nargs="+", default=PASSES, choices=PASSES)
    parser.add_argument("--problems", nargs="+", type=int, default=range(1, len(PROBLEMS) + 1),
                        help="their numbers, from 1 on")  # fmt: skip
    parser.add_argument("--variants", nargs="+", default=["*"], help="globs of our kernels' names")
    parser.add_argument("--verify", action="store_true")
    a = parser.parse_args()

    torch.backends.cudnn.benchmark = True
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}\n")
    print("| problem | type | pass | PyTorch, us | ours, us | ratio | kernel |")
    print("| --- | --- | --- | ---: | ---: | ---: | --- |")
    ratios = {}
    for name in a.passes:
        timed = ours(a.gradverify, name, a.variants, [PROBLEMS[i - 1] for i in a.problems])
        for number in a.problems:
            p = PROBLEMS[number - 1]
            for type_name in a.types:
                if name == "grad_bias" and type_name == "tf32":
                    continue
                tf32 = type_name == "tf32"
                torch.backends.cudnn.conv.fp32_precision = "tf32" if tf32 else "ieee"
                layout = torch.contiguous_format if type_name == "f32" else torch.channels_last
                theirs = torch_seconds(p, TYPES[type_name], name, layout)
                mine = [l for l in timed if same_problem(l["problem"], p)
                        and is_of(l["kernel"], type_name)]  # fmt: skip
                if not mine:
                    print(f"| {short(p)} | {type_name} | {name} | {theirs * 1e6:.1f} | | | |", flush=True)
                    continue
                best = min(mine, key=lambda l: l["seconds"])
                ratio = theirs / best["seconds"]
                ratios.setdefault((type_name, number <= LARGE), []).append(ratio)
                word = ""
                if a.verify:
                    word = ", verified" if verify(a.gradverify, best["kernel"], p) else ", FAILED"
                print(f"| {short(p)} | {type_name} | {name} | {theirs * 1e6:.1f} | {best['seconds'] * 1e6:.1f} "
                      f"| {ratio:.2f} | `{best['kernel'].split('/')[1]}`{word} |", flush=True)  # fmt: skip
    print()
    for (type_name, large), all_of in ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, all_of)))
        print(f"{type_name}, {'large problems' if large else 'LeNet'}: {len(all_of)} ratios, "
              f"geometric mean {mean:.2f}, least {min(all_of):.2f}")  # fmt: skip


def same_problem(text, p):
    """`bench` prints a problem without what has its usual value."""
    words = dict(word.split("=") for word in text.split(","))
    number = lambda key, usual: int(words.get(key, str(usual)).split("x")[0])
    return (number("n", 1), number("c", 1), number("k", 1), number("in", 1), number("filter", 1),
            number("stride", 1), number("padding", 0)) == (
        p["n"], p["c"], p["k"], p["size"], p["filter"], p["stride"], p["padding"])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
