# SPDX-License-Identifier: BSD-3-Clause
"""Pages in a headless Chromium, which is asked over a pipe, by the DevTools protocol: what they measure, say, fetch and look like.

    with Browser(folder) as browser:
        page = browser.open(file.as_uri(), width=400, dark=True)
        page.evaluate("document.title"), page.said, page.requests

Needs the standard library alone. `PROGRAM` is None where no browser is found: scripts/setup.sh browser installs one.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None)
MISSING = f"no browser: none of {', '.join(NAMES)} is on the path; scripts/setup.sh browser installs one"
PATIENCE = 60  # seconds for an answer, on a busy machine


class Page:
    """A page that was opened. `said`: what it wrote to the console, exceptions included; `requests`: what it asked for."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session
        self.said, self.requests, self._loaded = [], [], False

    def ask(self, method, **parameters):
        return self._browser.ask(method, parameters, self._session)

    def hear(self, method, told):
        if method == "Runtime.consoleAPICalled":
            self.said.append(" ".join(str(a.get("value", a.get("description"))) for a in told["args"]))
        elif method == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.said.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.said.append(told["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Page.loadEventFired":
            self._loaded = True

    def show(self, width, height=900, dark=False, media=""):
        """Width and height in pixels of a page, a telephone below 600 of them; `media`: "print"."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def load(self, url):
        self._loaded = False
        self.ask("Page.navigate", url=url)
        self._browser.wait(lambda: self._loaded, f"{url} to be loaded")

    def evaluate(self, expression):
        """The value of an expression of JavaScript, as what JSON makes of it."""
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def picture(self, file):
        """The whole page as a PNG."""
        answer = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        pathlib.Path(file).write_bytes(base64.b64decode(answer["data"]))


class Browser:
    """One process of the browser. `folder`: for its profile, its own."""

    def __init__(self, folder, program=PROGRAM):
        ours, to_it = os.pipe()
        from_it, its = os.pipe()
        self._log = open(pathlib.Path(folder) / "browser.log", "w+", encoding="utf-8")
        self._process = subprocess.Popen(
            # It reads 3 and writes 4. As root it has no sandbox; pages of our own need none.
            ["bash", "-c", f'exec "$@" 3<&{ours} 4>&{its}', "bash", program, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={folder}/profile",
             "about:blank"],
            pass_fds=(ours, its), stdout=self._log, stderr=self._log, stdin=subprocess.DEVNULL,
            env={**os.environ, "HOME": str(folder)})
        os.close(ours)
        os.close(its)
        self._to, self._from, self._read, self._asked = to_it, from_it, b"", 0
        self._answers, self._pages = {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._to)  # it ends by that
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._log.close()

    def _fail(self, what):
        self._log.seek(0)
        raise AssertionError(f"the browser {what}:\n{self._log.read()[-4000:]}")

    def _hear(self, seconds):
        if not select.select([self._from], [], [], seconds)[0]:
            return
        got = os.read(self._from, 1 << 20)
        if not got:
            self._fail("ended")
        *messages, self._read = (self._read + got).split(b"\0")
        for one in map(json.loads, messages):
            if "id" in one:
                self._answers[one["id"]] = one
            elif one.get("sessionId") in self._pages:
                self._pages[one["sessionId"]].hear(one["method"], one["params"])

    def wait(self, there, what):
        until = time.monotonic() + PATIENCE
        while not there():
            if time.monotonic() > until:
                self._fail(f"took more than {PATIENCE} s for {what}")
            self._hear(1)

    def ask(self, method, parameters, session=None):
        self._asked += 1
        number = self._asked
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self._to, left):]
        self.wait(lambda: number in self._answers, f"an answer to {method}")
        answer = self._answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def open(self, url, width=1200, height=900, dark=False, scripts=True):
        """A page of its own with that address."""
        target = self.ask("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.ask("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.ask("Emulation.setScriptExecutionDisabled", value=not scripts)
        page.show(width, height, dark)
        page.load(url)
        return page
