# SPDX-License-Identifier: Apache-2.0
"""Every relative link of a Markdown file leads to a file, and to a heading of it.

usage: links_test.py REPOSITORY
"""

import re
import sys
from pathlib import Path

from blocks import prose_of

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def anchor_of(heading):
    """The name that a heading gets, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors_of(path):
    prose = prose_of(path.read_text())
    named = re.findall(r'id="([^"]+)"', prose)
    return {*map(anchor_of, re.findall(r"^#+ (.*)$", prose, re.MULTILINE)), *named}


def main():
    root = Path(sys.argv[1])
    pages = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    links = dead = 0
    for page in pages:
        for link in LINK.findall(prose_of(page.read_text())):
            if "://" in link:
                continue
            links += 1
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in anchors_of(target)):
                dead += 1
                print(f"{page.relative_to(root)}: {link} leads nowhere")
    print(f"{links} links, {dead} dead")
    return 1 if dead or not links else 0


if __name__ == "__main__":
    sys.exit(main())
