"""Looks at a page of results as a browser shows it: page.py FILE.html

Prints a JSON object: how many folds there are, and what is wrong, a line each. It speaks to
chromedriver, which drives Chromium.
"""

import json
import subprocess
import sys
import tempfile
import urllib.request

FLAGS = """--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync""".split()

# Elements whose content is cut off: hidden beyond an edge, or beside the page. What is there for
# screen readers alone is clipped to nothing on purpose.
CUT = """
const found = [];
const wide = document.documentElement.clientWidth;
if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
for (const e of document.querySelectorAll('body *')) {
  const style = getComputedStyle(e), box = e.getBoundingClientRect();
  if (!e.checkVisibility() || !box.width || style.clipPath !== 'none') continue;
  const hides = how => how === 'hidden' || how === 'clip';
  const isCut = (hides(style.overflowX) && e.scrollWidth > e.clientWidth + 1)
    || (hides(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
  if (isCut || box.left < -1 || box.right > wide + 1) found.push(e.outerHTML.slice(0, 80));
}
return found;
"""
FOCUSED = """
const e = document.activeElement;
return [e === document.body, e.tagName === 'SUMMARY' && !e.parentElement.open];
"""
CLOSED = "return document.querySelectorAll('details:not([open])').length"
# The worst contrast of text to what lies below it, by the formula of WCAG 2.
CONTRAST = """
const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
const light = colour => numbers(colour).slice(0, 3).map(v => v / 255)
  .map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
  .reduce((sum, v, at) => sum + v * [.2126, .7152, .0722][at], 0);
const below = e => {
  for (; e; e = e.parentElement) {
    const colour = getComputedStyle(e).backgroundColor, alpha = numbers(colour)[3];
    if (alpha === undefined || alpha === 1) return colour;
  }
  return 'rgb(255, 255, 255)';
};
const found = [];
for (const e of document.querySelectorAll('body *')) {
  const hasText = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
  if (!hasText || !e.checkVisibility()) continue;
  const [a, b] = [light(getComputedStyle(e).color), light(below(e))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) found.push(`contrast ${ratio.toFixed(1)}: ${e.outerHTML.slice(0, 80)}`);
}
return found;
"""


class Browser:
    def __init__(self, port, profile):
        self.base = f"http://127.0.0.1:{port}/session"
        options = {"args": [*FLAGS, f"--user-data-dir={profile}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL"}}
        made = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.base += "/" + made["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data, head, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request) as answer:
            return json.load(answer)["value"]

    def do(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def ask(self, script):
        return self.call("POST", "/execute/sync", {"script": script, "args": []})

    def press(self, key, number, **text):
        for kind in ("keyDown", "keyUp"):
            self.do("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=number, **text)
            text = {}


def look(browser, url):
    wrong = []
    for width in (400, 1600):
        for scheme in ("light", "dark"):
            metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
            browser.do("Emulation.setDeviceMetricsOverride", **metrics)
            feature = {"name": "prefers-color-scheme", "value": scheme}
            browser.do("Emulation.setEmulatedMedia", features=[feature])
            browser.call("POST", "/url", {"url": url})
            folds = browser.ask("return document.querySelectorAll('details').length")
            found = browser.ask(CUT)
            # Through the page by Tab alone; a fold opens by Enter.
            is_at_end = False
            while not is_at_end and browser.ask(CLOSED) > 0:
                browser.press("Tab", 9)
                is_at_end, is_fold = browser.ask(FOCUSED)
                if is_fold:
                    browser.press("Enter", 13, text="\r")
            closed = browser.ask(CLOSED)
            found += [f"{closed} folds do not open by keyboard"] if closed else []
            found += browser.ask(CUT) + browser.ask(CONTRAST)
            wrong += [f"{width} px, {scheme}: {text}" for text in found]
    for line in browser.call("POST", "/se/log", {"type": "performance"}):
        event = json.loads(line["message"])["message"]
        if event["method"] == "Network.requestWillBeSent":
            sent = event["params"]
            if sent["documentURL"] == url and sent["request"]["url"] != url:
                wrong.append("it asks for " + sent["request"]["url"])
    return {"folds": folds, "wrong": wrong}


def main():
    words = ["chromedriver", "--port=0"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as driver:
            try:
                said = next(line for line in driver.stdout if "started successfully on port" in line)
                browser = Browser(said.split()[-1].rstrip("."), profile)
                print(json.dumps(look(browser, "file://" + sys.argv[1])))
                browser.call("DELETE", "")
            finally:
                driver.terminate()


main()
