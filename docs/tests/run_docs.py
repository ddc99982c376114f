# SPDX-License-Identifier: Apache-2.0
"""Runs what a Markdown file shows, block by block:

  ```sh                 run by bash in a copy of the repository, or of the file's own folder for an
                        example; must end with code 0, or with the rule `exit`
  ```cuda, cpp, yaml    must be lines of the file that the rule `quotes` names, which is itself built
  ```cmake              the same; without that rule, a project with these lines must configure
  ``` (output)          must be in what the sh block before it printed, or the rule `run` prints;
                        numbers are not compared, and `...` stands for anything

A block of any other kind, or without its rule, is an error. Options that the prose mentions must be
options of gradverify or of ./run.

The copy's build/ holds stand-ins, since ctest has built everything already: build/gradverify runs
this build's executable, or the one that the rule `executable` names, on the cpu device, with few
cases; ./run calls the tools of tests/stand_ins.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from blocks import missing_of_output, missing_of_quote, prose_of, read_blocks

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Failure(Exception):
    pass


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("document", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="a folder to make anew")
    parser.add_argument("--build", type=Path, required=True, help="gradverify's build folder")
    parser.add_argument("--prefix", type=Path, required=True, help="where it is installed")
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--alone", action="store_true",
                        help="an example that may read nothing of the source and the build")
    parser.add_argument("--define", action="append", default=[], help="NAME=VALUE for CMake")
    return parser.parse_args()


def last_lines(text, count=60):
    return "\n".join(text.split("\n")[-count:])


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.is_example = ROOT / "docs" / "examples" in arguments.document.resolve().parents
        self.output = None
        if self.is_example:
            # What it has built before stays: it takes a minute.
            shutil.copytree(arguments.document.resolve().parent, arguments.work,
                            dirs_exist_ok=True)
        else:
            shutil.rmtree(arguments.work, ignore_errors=True)
            skipped = shutil.ignore_patterns("build*", ".git", "__pycache__", ".cache")
            shutil.copytree(ROOT, arguments.work, ignore=skipped, symlinks=True)
            (arguments.work / "build").mkdir()
            (arguments.work / "properties/tests/mutants/mutants.py").write_text("")  # takes an hour
            (arguments.work / "docs/tests/site_test.py").write_text("")  # there is no site
        self.environment = self.make_environment()

    def make_environment(self):
        a = self.arguments
        names = {
            "CXX": a.cxx,
            "CMAKE_GENERATOR": "Ninja",
            "DOCS_TEST_ROOT": str(ROOT),
            "DOCS_TEST_BUILD": str(a.build.resolve()),
            "DOCS_TEST_CMAKE": shutil.which("cmake"),
            "DOCS_TEST_CTEST": shutil.which("ctest"),
            "DOCS_TEST_DEFINES": "\n".join(f"-D{one}" for one in self.defines()),
            "HOME": str(a.work.resolve() / "home"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        stand_ins = HERE / "stand_ins" / ("consumer" if self.is_example else "repository")
        installed = str(a.work.resolve() / "build")
        path = os.pathsep.join([str(stand_ins), installed, os.environ["PATH"]])
        unset = {"GRADVERIFY_PRESET", "GRADVERIFY_BINARY_DIR", "CXXFLAGS", "XDG_CACHE_HOME"}
        kept = {name: value for name, value in os.environ.items() if name not in unset}
        return {**kept, **names, "PATH": path}

    def defines(self):
        return [f"CMAKE_PREFIX_PATH={self.arguments.prefix.resolve()}", *self.arguments.define]

    def bash(self, commands, rules):
        executable = rules.get("executable", "gradverify")
        environment = {**self.environment, "DOCS_TEST_EXECUTABLE": executable,
                       "DOCS_TEST_CASES": rules.get("cases", "10"),
                       "GRADVERIFY_SIGN_OF_LIFE": "1h"}
        if not self.is_example:
            shutil.copy(HERE / "stand_ins" / "gradverify", self.arguments.work / "build/gradverify")
        ended = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.arguments.work, env=environment, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace")
        wanted = int(rules.get("exit", 0))
        if ended.returncode != wanted:
            raise Failure(f"exit code {ended.returncode}, not {wanted}:\n{last_lines(ended.stdout)}")
        return ended.stdout

    def run(self, block):
        kinds = {"sh": self.run_sh, "cmake": self.run_cmake, "": self.compare_output,
                 "cpp": self.compare_quote, "cuda": self.compare_quote, "yaml": self.compare_quote}
        if block.language not in kinds:
            raise Failure(f"no rule for blocks of {block.language!r}")
        kinds[block.language](block)

    def run_sh(self, block):
        self.output = self.bash(block.text, block.rules)

    def run_cmake(self, block):
        if "quotes" in block.rules:
            self.compare_quote(block)
            return
        folder = self.arguments.work / "configured"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        head = ["cmake_minimum_required(VERSION 3.25)", "project(docs LANGUAGES CXX)",
                "find_package(gradverify 0.2 REQUIRED)"]
        if "gradverify_add_kernels(my_checks" in block.text:
            head.append("add_executable(my_checks main.cpp)")
        (folder / "CMakeLists.txt").write_text("\n".join(head) + "\n" + block.text)
        for name in re.findall(r"[\w.]+\.(?:cu|cpp)\b", block.text) + ["main.cpp"]:
            (folder / name).touch()
        for name in re.findall(r"CPU_HEADERS ([\w/]+)", block.text):
            (folder / name).mkdir(parents=True)
        defines = " ".join(f"'-D{one}'" for one in self.defines())
        self.bash(f"cmake -S configured -B configured/build {defines}", {})

    def compare_quote(self, block):
        if "quotes" not in block.rules:
            raise Failure("which file does it quote? <!-- test: quotes=PATH -->")
        source = (ROOT / block.rules["quotes"]).read_text()
        missing = missing_of_quote(block.text, source)
        if missing is not None:
            raise Failure(f"{block.rules['quotes']} lacks, or has elsewhere: {missing}")

    def compare_output(self, block):
        if "run" in block.rules:
            output = self.bash(block.rules["run"], block.rules)
        elif self.output is not None:
            output = self.output
        else:
            raise Failure("what prints it? an sh block before, or <!-- test: run='COMMAND' -->")
        missing = missing_of_output(block.text, output)
        if missing is not None:
            raise Failure(f"not printed: {' '.join(missing)}\nprinted:\n{last_lines(output)}")

    def check_alone(self):
        """What was built, and from what, as Ninja knows it."""
        build = self.arguments.work / "build"
        known = (build / "build.ninja").read_text()
        known += subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True,
                                text=True, check=True).stdout
        ours = {str(path.resolve()) for path in (self.arguments.work, self.arguments.prefix)}
        paths = set(re.findall(re.escape(str(ROOT)) + r"/[^\s:|]*", known))
        strangers = sorted(one for one in paths if not one.startswith(tuple(ours)))
        if strangers or str(self.arguments.prefix.resolve()) not in known:
            raise Failure(f"it is built from {strangers[:5]}")

    def check_options_of_prose(self, text):
        mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", " ".join(
            re.findall(r"`([^`\n]+)`", prose_of(text)))))
        real = self.arguments.build / "gradverify"
        known = "".join(subprocess.run(command, capture_output=True, text=True).stdout
                        for command in ([real, "--help-all"], [ROOT / "run", "help"]))
        # Of nvcc, cmake, and `python -m gradverify`.
        known += "--use_fast_math --install --prefix --cmakedir"
        unknown = sorted(one for one in mentioned if one not in known)
        if unknown:
            raise Failure(f"options that nothing has: {unknown}")


def main():
    arguments = parse_arguments()
    text = arguments.document.read_text()
    runner = Runner(arguments)
    failed = 0
    blocks = read_blocks(text)
    if not blocks:
        failed += 1
        print(f"{arguments.document}: it has no block, so nothing was tested")
    for block in blocks:
        try:
            runner.run(block)
        except Failure as failure:
            failed += 1
            print(f"{arguments.document}:{block.line}: {failure}", flush=True)
    try:
        runner.check_options_of_prose(text)
        if arguments.alone:
            runner.check_alone()
    except Failure as failure:
        failed += 1
        print(f"{arguments.document}: {failure}")
    print(f"{arguments.document}: {len(blocks)} blocks, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
