# SPDX-License-Identifier: Apache-2.0
"""Makes a site of the Markdown files as they are, for `./run site`."""

from os.path import basename
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

# The menu. Sphinx warns of a page that is not in it.
NAVIGATION = {
    "Learn": ["docs/tour", "docs/report", "docs/own-operator", "docs/ci/README",
              "docs/untrusted", "docs/moving", "docs/reference/symptoms"],
    "Examples": ["docs/examples/*/README"],
    "Look up": [
        "docs/declarations",
        "docs/properties",
        "docs/command-line",
        "docs/cuda-on-the-cpu-device",
        "docs/pytorch",
        "docs/reference/ptx",
        "docs/formulas",
        "docs/api",
        "docs/glossary",
    ],
    "Results": ["docs/results"],
    "Work on gradverify": ["docs/architecture", "docs/development", "CHANGELOG"],
}
# Pages below a page.
BELOW = {
    "README": NAVIGATION,
    "docs/results": {"Measured and found": ["docs/results/*"]},
}

project = html_title = "gradverify"
extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
exclude_patterns = ["build*", ".*"]
myst_heading_anchors = 4  # as GitHub names them
highlight_language = "text"
html_theme = "sphinx_rtd_theme"
html_static_path = html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = html_show_copyright = html_use_index = False
html_show_search_summary = False  # it would be fetched, which file:// forbids


def add_navigation(app, page, source):
    for caption, pages in BELOW.get(page, {}).items():
        lines = [":hidden:", ":glob:", f":caption: {caption}", "", *("/" + name for name in pages)]
        source[0] += "\n\n```{toctree}\n" + "\n".join(lines) + "\n```\n"


def link_headers(app, page):
    """Links to headers lead to doxygen's pages, where there are such, and not to copies."""
    for link in list(page.findall(addnodes.download_reference)):
        name = basename(link["reftarget"]).replace("_", "__").replace(".", "_8") + ".html"
        if (Path(app.outdir) / "api" / name).exists():
            address = "../" * link["refdoc"].count("/") + "api/" + name
            link.replace_self(nodes.reference("", "", *link.children, refuri=address))


def setup(app):
    app.connect("source-read", add_navigation)
    app.connect("doctree-read", link_headers, priority=100)  # before Sphinx makes copies
