#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Convolution problems verified per second: a loop in PyTorch, gradcheck, and gradverify, in one run.

The loop is what people write: float32 on the device against float64 on the CPU, each gradient by
assert_close. Its problems have the distribution of `gradverify bench --harness`, which is run
beside it on the same device. Prints a table with ratios.

    torch_loop.py build/gradverify --device cuda
"""

import argparse
import multiprocessing
import os
import random
import re
import subprocess
import sys
import time

import torch


def problem_of(draw):
    """Sizes as the operator's typical ranges have them; drawn again while the output is empty."""
    while True:
        size = [draw.randint(1, 32) for _ in range(2)]
        window = [draw.randint(1, 7) for _ in range(2)]
        padding = [draw.randint(0, 3) for _ in range(2)]
        if all(s + 2 * p >= w for s, p, w in zip(size, padding, window)):
            break
    n, c, k = draw.randint(1, 4), draw.randint(1, 8), draw.randint(1, 8)
    stride = [draw.randint(1, 3) for _ in range(2)]
    return (n, c, *size), (k, c, *window), stride, padding


def tensors_of(problem, generator, dtype):
    x_shape, w_shape, _, _ = problem
    shapes = (x_shape, w_shape, w_shape[:1])
    return [torch.randn(shape, generator=generator, dtype=dtype) for shape in shapes]


def gradients(problem, tensors, cotangent=None):
    """The gradients by x, w and b, and the cotangent, on the tensors' device."""
    leaves = [tensor.detach().requires_grad_() for tensor in tensors]
    y = torch.nn.functional.conv2d(*leaves, stride=problem[2], padding=problem[3])
    if cotangent is None:
        cotangent = torch.randn(y.shape, dtype=y.dtype)
    return torch.autograd.grad(y, leaves, cotangent.to(y.device)), cotangent


def loop(device, seed, problems):
    """Verifies so many problems; returns how many assert_close calls wrong."""
    draw, generator, wrong = random.Random(seed), torch.Generator().manual_seed(seed), 0
    for _ in range(problems):
        problem = problem_of(draw)
        tensors = tensors_of(problem, generator, torch.float32)
        got, cotangent = gradients(problem, [tensor.to(device) for tensor in tensors])
        want, _ = gradients(problem, [tensor.double() for tensor in tensors], cotangent.double())
        for mine, right in zip(got, want):
            try:
                torch.testing.assert_close(mine.cpu(), right.float())
            except AssertionError:
                wrong += 1
    return wrong


def gradcheck(device, seed, problems):
    """The same number of problems by gradcheck in its fast mode, in float64."""
    draw, generator, wrong = random.Random(seed), torch.Generator().manual_seed(seed), 0
    for _ in range(problems):
        problem = problem_of(draw)
        leaves = [t.to(device).requires_grad_() for t in tensors_of(problem, generator, torch.float64)]
        wrong += not torch.autograd.gradcheck(
            lambda x, w, b: torch.nn.functional.conv2d(x, w, b, stride=problem[2], padding=problem[3]),
            leaves, fast_mode=True, raise_exception=False, nondet_tol=1e-9)  # fmt: skip
    return wrong


def worker(work, device, seed, problems, barrier, results):
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    work(device, seed, 5)  # the device, and its libraries, are loaded before it is timed
    barrier.wait()
    start = time.perf_counter()
    wrong = work(device, seed, problems)
    results.put((start, time.perf_counter(), wrong))


def rate(work, device, processes, problems):
    """Problems a second of so many processes, and the share of gradients that were called wrong."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(processes), context.Queue()
    crew = [context.Process(target=worker, args=(work, device, 1 + i, problems, barrier, results))
            for i in range(processes)]  # fmt: skip
    for process in crew:
        process.start()
    answers = [results.get() for _ in crew]
    for process in crew:
        process.join()
    seconds = max(end for _, end, _ in answers) - min(start for start, _, _ in answers)
    return processes * problems / seconds, sum(wrong for _, _, wrong in answers) / (processes * problems)


def gradverify_rates(executable, kernels, device, problems, jobs):
    """By load and number of workers, from `bench --harness`."""
    command = [executable, "bench", "--harness", *kernels, "--device", device,
               "--problems", str(problems), "--jobs", str(jobs)]  # fmt: skip
    text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rates, load = {}, None
    for line in text.splitlines():
        if line.startswith("conv, "):
            load = line.removeprefix("conv, ")
        elif found := re.match(r" +(\d+) workers?: ([\d.]+) problems/s", line):
            rates[load, int(found[1])] = float(found[2])
    return rates


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("gradverify", help="the executable")
    parser.add_argument("--device", default="cuda", choices=("cpu", "cuda"))
    parser.add_argument("--problems", type=int, default=500, help="of each process; of gradverify four times as many")
    parser.add_argument("--kernels", nargs="+", default=["conv.*/naive", "conv.*/direct"], help="of gradverify")
    parser.add_argument("--processes", type=int, default=8, help="of the loop beside the one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="workers of gradverify")
    a = parser.parse_args()

    print(f"{a.device}, PyTorch {torch.__version__}, {os.cpu_count()} cores")
    one, called_wrong = rate(loop, a.device, 1, a.problems)
    several, _ = rate(loop, a.device, a.processes, a.problems)
    checked, failed = rate(gradcheck, a.device, 1, a.problems)
    print(f"loop, 1 process: {one:.0f} problems/s; "
          f"calls {100 * called_wrong / 3:.1f} % of right gradients wrong")  # fmt: skip
    print(f"loop, {a.processes} processes: {several:.0f} problems/s")
    print(f"gradcheck, fast mode, 1 process: {checked:.0f} problems/s; fails {100 * failed:.1f} %")
    row = "{:<70} {:>7} {:>10} {:>7} {:>7} {:>9}"
    print(row.format("gradverify", "workers", "problems/s", "/ loop", f"/ {a.processes}", "/ gradcheck"))
    rates = gradverify_rates(a.gradverify, a.kernels, a.device, 4 * a.problems, a.jobs)
    for (load, jobs), figure in rates.items():
        ratios = [f"{figure / other:.2f}" for other in (one, several, checked)]
        print(row.format(load, jobs, f"{figure:.0f}", *ratios))


if __name__ == "__main__":
    sys.exit(main())
