#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens reports of `gradverify` in headless Chromium and checks that they can be read and used.

    report_page_test.py [--screenshots DIR] REPORT.html...

Each report is held against the JSON lines inside it: there is a cell for each verdict; filter,
links, selects and Copy buttons do what they say; nothing goes to the console or the network; the
page fits a phone, has a dark side, and can be used by keyboard and screen reader. Exits with 1 if
something is wrong. Needs Debian's chromium, chromium-driver and python3-selenium.
"""

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

FORMS = {"light": (1280, "light"), "dark": (1280, "dark"), "phone": (390, "light")}
OPEN_ALL = "document.querySelectorAll('details').forEach(e => { e.open = true; })"
SHOWN = "return [...document.querySelectorAll('.rows [data-kernel]')].filter(e => e.offsetParent).length"
HEADINGS = """return [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
    .map(e => [Number(e.tagName[1]), e.textContent])"""
FOCUSED = """const e = document.activeElement, box = e.getBoundingClientRect();
    return e.closest('section:not(#table)') && box.bottom > 0 && box.top < innerHeight"""
# Each finds what must not be there.
FAULTS = {
    "a control has no name": """return [...document.querySelectorAll('button, input, select, a, summary')]
        .filter(e => !(e.ariaLabel || e.tagName !== 'SELECT' && e.textContent || '').trim() &&
            ![...(e.labels ?? [])].some(one => one.textContent.replace(e.textContent, '').trim()))""",
    "a header has no scope": "return [...document.querySelectorAll('th:not([scope])')]",
    "a figure has no name": """return [...document.querySelectorAll('svg:not([aria-hidden=true])')]
        .filter(e => e.getAttribute('role') !== 'img' || !e.ariaLabel)""",
    "an id is there twice": """const ids = [...document.querySelectorAll('[id]')];
        return ids.filter((e, i) => ids.findIndex(one => one.id === e.id) !== i)""",
    "text became markup": "return [...document.querySelectorAll('main :is(img, script, iframe, style)')]",
    "contrast is below AA": """const context = document.createElement('canvas').getContext('2d',
            {willReadFrequently: true});
        const rgb = css => { context.clearRect(0, 0, 1, 1); context.fillStyle = css;
            context.fillRect(0, 0, 1, 1); return context.getImageData(0, 0, 1, 1).data; };
        const back = (e, c = rgb(getComputedStyle(e).backgroundColor)) =>
            c[3] === 255 ? c : back(e.parentElement);
        const light = c => [.2126, .7152, .0722].reduce((sum, part, i) => sum + part *
            (c[i] <= 10 ? c[i] / 3294.6 : ((c[i] / 255 + .055) / 1.055) ** 2.4), .05);
        const isText = e => e.offsetParent && !e.closest('.sr, select') &&
            [...e.childNodes].some(node => node.nodeType === 3 && node.data.trim());
        const ratio = e => light(rgb(getComputedStyle(e).color)) / light(back(e));
        return [...document.querySelectorAll('main *')].filter(isText)
            .filter(e => Math.max(ratio(e), 1 / ratio(e)) < 4.5)""",
}


def start(profile):
    options = webdriver.ChromeOptions()
    for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                     "hide-scrollbars", f"user-data-dir={profile}"):
        options.add_argument(f"--{argument}")
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def id_of(row):
    return "_".join(f"row:{row['kernel']}:{row['property']}:{row['device']}".split())


class Report:
    def __init__(self, browser, path):
        self.browser, self.path, self.wrong = browser, Path(path).resolve(), []
        self.run = browser.execute_script
        self.find = lambda css: browser.find_elements(By.CSS_SELECTOR, css)

    def check(self, holds, otherwise):
        if not holds:
            self.wrong.append(otherwise)

    def wait(self, holds, otherwise):
        try:
            WebDriverWait(self.browser, 5, 0.02).until(lambda _: holds())
        except TimeoutException:
            self.check(False, otherwise)

    def resize(self, width, height=900):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, width=1280, scheme="light"):
        self.resize(width)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.browser.get("about:blank")  # a new fragment alone would keep the page
        self.browser.get(self.path.as_uri())
        self.lines = json.loads(self.run("return document.getElementById('results').textContent"))
        self.program = [*(line["program"] for line in self.lines if "program" in line), "gradverify"][0]
        rows = {id_of(line): line for line in self.lines if line["kind"] == "verdict"}
        self.rows = list(rows.values())
        self.failed = [row for row in self.rows if row["verdict"] == "failed"]
        self.seen = [line for line in self.lines if line["kind"] == "seen" and id_of(line) not in rows]

    def answer(self):
        headings, text = self.run(HEADINGS), " ".join(self.run("return document.body.innerText").split())
        is_one = [level for level, _ in headings if level == 1] == [headings[0][0]]
        self.check(is_one and headings[0][1].strip(), f"not one h1 in front, or an empty one: {headings[:1]}")
        for before, (level, title) in zip(headings, headings[1:]):
            self.check(level <= before[0] + 1, f"h{level} follows h{before[0]}: {title}")
        wrong = {row["kernel"] for row in self.failed + self.seen if not row.get("known")}
        said = headings[0][1].startswith(f"{len(wrong)} of ") or not wrong
        self.check(said, f"not {len(wrong)}: {headings[0][1]}")
        is_whole = not any(line.get("tone") == "bad" for line in self.lines)
        self.check(is_whole or wrong or "not all is there" in headings[0][1], f"all is well: {headings[0][1]}")
        for line in self.lines:
            note = " ".join(line["text"].split()) if line["kind"] == "note" else ""
            self.check(note in text, f"a note is missing: {note}")

    def table(self):
        shown = [cell.get_attribute("data-verdict") for cell in self.find("[data-verdict]")]
        self.check(len(shown) == len(self.rows), f"{len(shown)} cells for {len(self.rows)} verdicts")
        for verdict in {row["verdict"] for row in self.rows}:
            is_right = shown.count(verdict) == sum(row["verdict"] == verdict for row in self.rows)
            self.check(is_right, f"{shown.count(verdict)} cells {verdict}")
            for link in self.find(f"[data-verdict={verdict}] a")[:1]:
                self.follow(link)

    def follow(self, link):
        """A cell's link must bring its details into view, and the focus to them."""
        link.send_keys(Keys.ENTER)
        self.wait(lambda: self.run(FOCUSED), f"a link shows nothing: {link.get_attribute('href')}")

    def filters(self):
        all_rows, (status,), (box,) = self.run(SHOWN), self.find("#shown"), self.find("#filter")
        self.check(status.get_attribute("aria-live") == "polite", "the count is not announced")
        kernel = self.rows[-1]["kernel"]
        count = sum(kernel in e.get_attribute("data-kernel") for e in self.find(".rows tr[data-kernel]"))
        for text, few in ((kernel, count), ("no such kernel (", 0), (" ", all_rows)):
            box.send_keys(Keys.CONTROL, "a", Keys.NULL, text)
            self.check(self.run(SHOWN) == few, f"{self.run(SHOWN)} rows for the filter {text!r}, not {few}")
            self.check(status.text.startswith(f"{few} of {all_rows} "), f"filter {text!r} says {status.text}")
        for button in self.find("[data-show]"):
            button.send_keys(Keys.ENTER)
            few = int(button.text.split("(")[1].rstrip(")"))
            self.check(button.get_attribute("aria-pressed") == "true", f"{button.text} is not pressed")
            self.check(self.run(SHOWN) == few, f"{button.text} shows {self.run(SHOWN)} rows")
            self.check(status.text.startswith(f"{few} of "), f"{button.text} announces {status.text}")

    def failures(self):
        self.run(OPEN_ALL)
        blocks = {block.get_attribute("id"): block for block in self.find(".failure")}
        for row in self.failed + self.seen:
            self.check(id_of(row) in blocks, f"{id_of(row)}: no block")
            if id_of(row) in blocks:
                self.failure(row, id_of(row), blocks[id_of(row)])

    def failure(self, row, name, block):
        inside = lambda css: block.find_elements(By.CSS_SELECTOR, css)  # noqa: E731
        bug = block.find_element(By.XPATH, "ancestor::section[contains(@class, 'bug')]")
        if row.get("parameters") or row.get("tensors"):
            self.check(bug.find_elements(By.CSS_SELECTOR, ".drawing [role=img] *"), f"{name}: no drawing")
        said = f"{self.program} repro '" + row["case"].replace("'", "'\\''") + "'"
        lines = [line.get_attribute("textContent") for line in inside(".replay .line")]
        self.check(lines == [said], f"{name}: replays {lines}, not {said}")
        for button, status in zip(inside(".replay button"), inside(".replay [role=status]")):
            button.send_keys(Keys.ENTER)
            self.wait(lambda: status.text == "Copied.", f"{name}: Copy says {status.text!r}")
        maps, drawn = inside(".heatmap"), sum("got" in one for one in row.get("maps", []))
        self.check(len(maps) == drawn, f"{name}: {len(maps)} maps, not {drawn}")
        for heat in maps:
            self.heat_map(heat, name)

    def heat_map(self, heat, name):
        def look():
            return [heat.find_element(By.CSS_SELECTOR, one).get_attribute("outerHTML")
                    for one in ("table", ".where")]
        self.check(heat.find_elements(By.CSS_SELECTOR, "td[title]"), f"{name}: no cells")
        for at in range(len(heat.find_elements(By.TAG_NAME, "select"))):
            def select():  # the map is built anew
                return Select(heat.find_elements(By.TAG_NAME, "select")[at])
            before, looks = look(), set()
            chosen = select().options.index(select().first_selected_option)
            for step in range(1, len(select().options)):  # a NaN minus anything looks as before
                select().select_by_index((chosen + step) % len(select().options))
                looks.add(tuple(look()))
            self.check(looks - {tuple(before)}, f"{name}: select {at} changes nothing")
        for slider in heat.find_elements(By.CSS_SELECTOR, "input[type=range]"):
            slider.send_keys(Keys.HOME)
            before = look()
            slider.send_keys(Keys.ARROW_RIGHT)
            self.check(before != look(), f"{name}: a slider changes nothing")

    def form(self, name, folder):
        width, scheme = FORMS[name]
        self.open(width, scheme)
        if folder:
            self.resize(width, min(self.run("return document.body.scrollHeight"), 9000))
            self.browser.save_screenshot(f"{folder}/{self.path.stem}_{name}.png")
            self.resize(width)
        self.run(OPEN_ALL)
        wide = self.run("const e = document.documentElement; return e.scrollWidth - e.clientWidth")
        self.check(wide <= 0, f"{name}: the page is {wide} pixels wider than the window")
        colour = self.run("return getComputedStyle(document.body).backgroundColor")
        is_dark = max(int(part) for part in colour.strip("rgb()").split(",")) < 80
        self.check(is_dark == (scheme == "dark"), f"{name}: the background is {colour}")
        for what, script in FAULTS.items():
            found = [element.get_attribute("outerHTML")[:160] for element in self.run(script)[:3]]
            self.check(not found, f"{name}: {what}: {found}")

    def logs(self):
        for entry in self.browser.get_log("browser"):
            self.check(entry["level"] not in ("WARNING", "SEVERE"), f"console: {entry['message']}")
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                # The browser's own first page is chrome://, which a file can't ask for.
                own = (self.path.as_uri(), "about:blank", "data:", "chrome:")
                self.check(url.startswith(own), f"the page asks for {url}")

    def all(self, folder):
        for step in (self.answer, self.table, self.filters, self.failures):
            self.open()
            if self.rows + self.seen or step == self.answer:
                step()
        for name in FORMS:
            self.form(name, folder)
        self.logs()
        return self.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--screenshots", metavar="DIR", help="writes a PNG of each report and form")
    parser.add_argument("reports", nargs="+", metavar="REPORT.html")
    arguments = parser.parse_args()
    Path(arguments.screenshots or ".").mkdir(parents=True, exist_ok=True)
    wrong = {}
    with tempfile.TemporaryDirectory() as profile:
        browser = start(profile)
        try:
            for path in arguments.reports:
                wrong[path] = Report(browser, path).all(arguments.screenshots)
                print("\n  ".join([f"{path}: {'FAILED' if wrong[path] else 'passed'}", *wrong[path]]))
        finally:
            browser.quit()
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
