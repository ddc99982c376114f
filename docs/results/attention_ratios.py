#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times attention's backward kernels in bfloat16 and PyTorch's flash backend on one GPU, in one run.

The ratio is PyTorch's time over ours; its TFLOP/s count five products, of the pairs that are seen.
Calls are replayed from CUDA graphs. PyTorch's tensors lie as ours do, heads inside of rows.

    attention_ratios.py build/gradverify [VARIANT...]
"""

import sys

import torch
from convolution_ratios import bench, seconds_of

# Batch, queries and keys, heads, elements of a head; all causal.
PROBLEMS = [(4, 8192, 16, 128), (1, 8192, 16, 128), (8, 2048, 16, 128), (4, 8192, 16, 64)]


def torch_call(b, s, h, d):
    q, k, v, grad = (torch.randn(b, s, h, d, device="cuda", dtype=torch.bfloat16).transpose(1, 2)
                     for _ in range(4))  # fmt: skip
    out, lse, *rest = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, True)
    ends_q, ends_k, most_q, most_k, seed, offset = rest[:6]
    return lambda: torch.ops.aten._scaled_dot_product_flash_attention_backward(
        grad, q, k, v, out, lse, ends_q, ends_k, most_q, most_k, 0.0, True, seed, offset)  # fmt: skip


def main():
    gradverify, *variants = sys.argv[1:]
    kernels = [f"attention.backward/{variant}" for variant in variants or ["wgmma", "tiled_mma"]]
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}\n")
    print("| b, s, h, d | PyTorch, us | TFLOP/s | ours, us | TFLOP/s | ratio | kernel |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for problem in PROBLEMS:
        b, s, h, d = problem
        operations = 5 * 2 * b * h * d * s * (s + 1) / 2
        theirs = seconds_of(lambda: torch_call(*problem), 2 * 8 * b * s * h * d)
        text = f"b={b},sq={s},sk={s},h={h},d={d},causal=1"
        for line in bench(gradverify, kernels, [text]):
            seconds = line["seconds"]
            print(f"| {b}, {s}, {h}, {d} | {theirs * 1e6:.0f} | {operations / theirs * 1e-12:.0f} "
                  f"| {seconds * 1e6:.0f} | {operations / seconds * 1e-12:.0f} "
                  f"| {theirs / seconds:.2f} | `{line['kernel'].split('/')[1]}` |", flush=True)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
