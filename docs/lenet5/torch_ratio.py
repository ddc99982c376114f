#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times LeNet-5's loss and gradients in PyTorch and in this project, on one GPU, in one run.

    docs/lenet5/torch_ratio.py build/gradverify [BATCH...]

PyTorch: float32 without TF32, cuDNN's fastest kernels, forward, loss and backward as one CUDA
graph. This project: `gradverify bench --graph`, which verifies the kernel before it times it. Both
are medians. Prints a Markdown table.
"""

import json
import statistics
import subprocess
import sys
import tempfile

import torch

KERNEL = "lenet5.loss_and_gradients/fused"
SIZES = "c=1,k1=6,k2=16,hidden1=120,hidden2=84,classes=10,in=28x28,filter=5x5,window=2x2"
BATCHES = (32, 256, 4096, 65536)
SAMPLES = 50


def network():
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    ).cuda()  # fmt: skip


def torch_seconds(batch):
    """The median time of a replay."""
    model = network()
    image = torch.randn(batch, 1, 28, 28, device="cuda")
    label = torch.randint(10, (batch,), device="cuda")

    def step():
        model.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(model(image), label).backward()

    side = torch.cuda.Stream()  # where PyTorch wants a graph to be warmed up
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    replays = max(1, 8192 // batch)  # in a sample, so that the launch of a graph is hidden
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    samples = []
    for _ in range(SAMPLES + 5):
        begin.record()
        for _ in range(replays):
            graph.replay()
        end.record()
        end.synchronize()
        samples.append(begin.elapsed_time(end) / 1e3 / replays)
    return statistics.median(samples[5:])


def our_seconds(gradverify, batch):
    """The median that `bench` writes, and whether it verified the kernel on this batch."""
    with tempfile.NamedTemporaryFile(suffix=".json") as results:
        subprocess.run(
            [gradverify, "bench", KERNEL, "--device", "cuda", "--graph", "--data", "decimals",
             "--problem", f"n={batch},{SIZES}", "--json", results.name],
            check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        # One object on each line; that of a kernel is of the kind "bench".
        lines = [json.loads(line) for line in open(results.name, encoding="utf-8")]
    (timed,) = [line for line in lines if line["kind"] == "bench"]
    if timed["state"] != "timed":
        sys.exit(f"{KERNEL} on a batch of {batch}: {timed['message']}")
    return timed["seconds"], timed["verified"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    batches = [int(text) for text in sys.argv[2:]] or BATCHES
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    print(f"PyTorch {torch.__version__} on {torch.cuda.get_device_name()}\n")
    print("| batch | PyTorch, ms | fused, ms | share of PyTorch's time | verified |")
    print("| --: | --: | --: | --: | :-- |")
    for batch in batches:
        peer = torch_seconds(batch)
        ours, verified = our_seconds(sys.argv[1], batch)
        print(f"| {batch} | {peer * 1e3:.3f} | {ours * 1e3:.3f} | {ours / peer:.1%} "
              f"| {'yes' if verified else 'no'} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
