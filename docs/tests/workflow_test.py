# SPDX-License-Identifier: Apache-2.0
"""docs/ci/github-actions.yml: it is a workflow, it installs what ./run does, and each of its
commands runs, as on GitHub, in the project that it is for (with stand-ins for apt-get and sudo).

usage: workflow_test.py ROOT PROJECT
PROJECT is the folder of the built example whole_file.
"""

import os
import re
import subprocess
import sys
import xml.dom.minidom
from pathlib import Path

import yaml

CONTEXT = {"matrix.shard": "2", "github.run_number": "7"}


def substituted(text):
    """The text with `${{ ... }}` replaced; one that is not known is an error (KeyError). A check
    ends sooner than on GitHub."""
    text = text.replace("--time 5m", "--time 5s")
    return re.sub(r"\$\{\{ *([\w.]+) *\}\}", lambda found: CONTEXT[found[1]], text)


def check_form(workflow):
    # YAML 1.1 reads the key `on` as true.
    assert set(workflow) == {"name", True, "jobs"}, f"unexpected keys: {set(workflow)}"
    (job,) = workflow["jobs"].values()
    assert job["strategy"]["matrix"]["shard"] == [1, 2, 3, 4], "the command says /4"
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step), f"a step either uses or runs: {step}"
        assert set(step) <= {"name", "uses", "run", "with", "if"}, f"unexpected keys: {step}"
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), f"no version: {step}"
    return job["steps"]


def check_packages(root, step):
    needs = re.search(r"^build_needs=\((.*?)\)", (root / "run").read_text(), re.M | re.S)[1]
    wanted = {need.partition(":")[2] or need for need in needs.split()}
    installed = set(step["run"].split("--no-install-recommends")[1].split())
    # doctest and MPFR are for gradverify's own tests, as is Python.
    assert installed == wanted - {"doctest-dev", "libmpfr-dev", "python3", "python3-yaml"}, f"{installed ^ wanted} differ"


def main():
    root, project = Path(sys.argv[1]), Path(sys.argv[2])
    steps = check_form(yaml.safe_load((root / "docs/ci/github-actions.yml").read_text()))
    check_packages(root, next(step for step in steps if step.get("name") == "Packages"))
    results = project / "results-2.xml"
    results.unlink(missing_ok=True)
    for step in steps:
        if "run" in step:
            subprocess.run(["bash", "-euo", "pipefail", "-c", substituted(step["run"])],
                           cwd=project, env={**os.environ, "CI": "true"}, check=True)
        for text in step.get("with", {}).values():
            substituted(text)
    cases = xml.dom.minidom.parse(str(results)).getElementsByTagName("testcase")
    assert cases, "the results hold no test case"
    print(f"{len(cases)} rows in {results}")


if __name__ == "__main__":
    main()
