# SPDX-License-Identifier: Apache-2.0
"""Draws the losses that `gradverify_suite_tests train-lenet5` printed:

    gradverify_suite_tests train-lenet5 cuda 300 >training.jsonl
    python3 docs/lenet5/plot_training.py training.jsonl docs/lenet5/training.svg
"""

import json
import math
import sys

LEFT, RIGHT, TOP, BOTTOM = 40, 490, 10, 218  # of the axes, in a picture of 504 x 252
STYLES = {"reference": 'stroke="#1f77b4" stroke-opacity=".4" stroke-width="3"',
          "kernels": 'stroke="#ff7f0e"'}


def main(source, target):
    with open(source, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    steps = [record for record in records if record["kind"] == "step"]
    trained = next(record for record in records if record["kind"] == "trained")
    most = max(step[who] for step in steps for who in STYLES)

    def x_of(step):
        return round(LEFT + (RIGHT - LEFT) * step / len(steps), 1)

    def y_of(loss):
        return round(BOTTOM - (BOTTOM - TOP) * loss / most, 1)

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 504 252" fill="none" '
             'font-family="sans-serif" font-size="10" stroke-linejoin="round">',
             '<rect width="504" height="252" fill="#fff"/>',
             f'<path stroke="#000" stroke-width=".8" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>',
             '<g fill="#000" text-anchor="middle">']
    for step in range(0, len(steps) + 1, 50):
        parts.append(f'<text x="{x_of(step)}" y="{BOTTOM + 13}">{step}</text>')
    for halves in range(math.floor(2 * most) + 1):
        parts.append(f'<text x="28" y="{y_of(halves / 2) + 3:.1f}">{halves / 2}</text>')
    parts += [f'<text x="265" y="246">step, of {trained["batch"]} images each</text>',
              '<text transform="translate(12 114) rotate(-90)">mean cross-entropy</text>', "</g>"]
    for row, (who, style) in enumerate(STYLES.items()):
        points = " ".join(f"{x_of(step['step'])},{y_of(step[who])}" for step in steps)
        right = f"{100 * trained['accuracy_' + who]:.1f} % of {trained['images']} right"
        parts += [f'<polyline {style} points="{points}"/>',
                  f'<path {style} d="M313 {16 + 15 * row}h20"/>',
                  f'<text fill="#000" x="341" y="{20 + 15 * row}">{who}: {right}</text>']
    with open(target, "w", encoding="utf-8") as svg:
        svg.write("\n".join([*parts, "</svg>"]) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
