# SPDX-License-Identifier: Apache-2.0
"""Draws the losses that `gradverify_suite_tests train-lenet5` printed, with matplotlib:

    gradverify_suite_tests train-lenet5 --device cuda --steps 300 >training.jsonl
    python3 docs/lenet5/plot_training.py training.jsonl docs/lenet5/training.svg
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402 (after the choice of the backend)

matplotlib.rcParams["svg.hashsalt"] = "training"  # the same file for the same losses


def main(source, target):
    with open(source, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    steps = [record for record in records if record["kind"] == "step"]
    trained = next(record for record in records if record["kind"] == "trained")
    figure, axes = plt.subplots(figsize=(7, 3.5), layout="constrained")
    for who, style in (("reference", {"linewidth": 3, "alpha": 0.4}), ("kernels", {"linewidth": 1})):
        label = f"{who}: {100 * trained['accuracy_' + who]:.1f} % of {trained['images']} right"
        axes.plot([s["step"] for s in steps], [s[who] for s in steps], label=label, **style)
    axes.set_xlabel(f"step, of {trained['batch']} images each")
    axes.set_ylabel("mean cross-entropy")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
