# SPDX-License-Identifier: Apache-2.0
"""Every link of a built site leads to a file of it and to an anchor of that file, and no page loads
anything from elsewhere.

usage: site_test.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("img", "src"), ("script", "src"), ("link", "href")}


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = {"", "top"}, set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)
            elif (tag, name) in LOADED:
                self.loads.add(value)
            elif (tag, name) == ("a", "href"):
                self.links.add(value)


def main():
    folder = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    count, faults = 0, []
    for path, page in pages.items():
        for link in sorted(page.links | page.loads):
            count += 1
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if parts.scheme or parts.netloc:
                fault = "is loaded from elsewhere" if link in page.loads else None
            elif folder not in target.parents or not target.is_file():
                fault = "leads nowhere"
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors:
                fault = "leads to no anchor"
            else:
                fault = None
            if fault:
                faults.append(f"{path.relative_to(folder)}: {link} {fault}")
    print(*faults, f"{count} links of {len(pages)} pages, {len(faults)} dead", sep="\n")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())
