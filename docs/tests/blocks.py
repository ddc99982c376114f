# SPDX-License-Identifier: Apache-2.0
"""Reads the fenced code blocks of a Markdown file, each with what the comment above it asks for:

    <!-- test: quotes=docs/examples/own_kernel/grad_bias_example.cu -->

Decides only what a block is; what is done with it is run_docs.py's.
"""

import re
import shlex
from dataclasses import dataclass, field

KEYS = {"cases", "executable", "exit", "quotes", "run"}


@dataclass
class Block:
    """A fenced block: its language ("" for output), its text, its line, and its rules."""

    language: str
    text: str
    line: int
    rules: dict = field(default_factory=dict)


def rules_of(comment, line):
    """The `key=value` words of a comment, as a dictionary."""
    rules = dict(word.partition("=")[::2] for word in shlex.split(comment))
    unknown = set(rules) - KEYS
    if unknown:
        raise ValueError(f"line {line}: unknown rule {sorted(unknown)}; known are {sorted(KEYS)}")
    return rules


def read_blocks(text):
    """All blocks of a Markdown text, in order. A comment that no block follows is an error."""
    blocks, rules, lines = [], None, text.split("\n")
    i = 0
    while i < len(lines):
        comment = re.fullmatch(r"<!-- test: (.*) -->", lines[i])
        fence = re.fullmatch(r"( *)```(\w*)", lines[i])
        if comment:
            rules = rules_of(comment[1], i + 1)
        elif fence:
            end = next((k for k in range(i + 1, len(lines)) if lines[k].strip() == "```"), None)
            if end is None:
                raise ValueError(f"line {i + 1}: a block that does not end")
            body = [one.removeprefix(fence[1]) for one in lines[i + 1 : end]]
            blocks.append(Block(fence[2], "\n".join(body) + "\n", i + 1, rules or {}))
            rules = None
            i = end
        elif rules is not None:
            raise ValueError(f"line {i}: the block must follow its comment at once")
        i += 1
    return blocks


def prose_of(text):
    """A Markdown text without its blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)


def tokens_of_output(text):
    """Words of an output, without numbers and the folders of .cu files and of gradverify: lines may
    be wrapped elsewhere."""
    text = re.sub(r"\S*/(?=[\w.]+\.cu\b|gradverify )", "", text)
    return [re.sub(r"#/#", "#", re.sub(r"\d+([.,]\d+)*", "#", word)) for word in text.split()]


def missing_in_order(parts, words):
    """The first of the parts, each a run of words, that does not follow the others in `words`, or
    None."""
    at = 0
    for part in parts:
        spots = range(at, len(words) - len(part) + 1)
        found = next((k for k in spots if words[k : k + len(part)] == part), None)
        if found is None:
            return part
        at = found + len(part)
    return None


def missing_of_output(expected, output):
    """The first run of words of `expected` that `output` lacks, or None. A line `...` in
    `expected`, or one at the end of a line, stands for anything."""
    parts, part = [], []
    for line in expected.split("\n"):
        stripped = line.strip()
        part += tokens_of_output(stripped.removesuffix("..."))
        if stripped.endswith("..."):
            parts.append(part)
            part = []
    parts.append(part)
    return missing_in_order([one for one in parts if one], tokens_of_output(output))


def lines_of_code(text):
    """Lines without comments, indentation, blanks."""
    bare = (re.sub(r"\s*(//|(?<!\S)#\s).*$", "", line).strip() for line in text.split("\n"))
    return [re.sub(r"\s+", " ", line).rstrip(";") for line in bare if line]


def missing_of_quote(quote, source):
    """The first line of the quote that does not follow the others in `source`, or None."""
    rest = iter(lines_of_code(source))
    return next((line for line in lines_of_code(quote) if line not in rest), None)
