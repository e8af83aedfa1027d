"""Look at all pages in Chromium: nothing is cut off, pictures are there, dark pages are dark.

At 1280 pixels no code, table or entry of the contents is cut off, and no head of a table is empty.
A page whose code draws shows as many pictures. At 400 nothing scrolls sideways. On a dark page each
picture is one for dark pages.

Run with ``python docs/check_pages.py [FOLDER]`` after ``make docs``. The exit code is 1 if
something is found. A page of the server shows each page in a frame and measures it.
"""

import functools
import html
import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

BUILT = Path(__file__).resolve().parent / "_build" / "html"
# Calls that make a picture of their own.
DRAWS = r"(\b(bp|plots)\.plot_\w+\(|\b(DET|Bayes)Plot\()"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HARNESS = """<!doctype html><iframe id="frame" style="height: 900px; border: 0"></iframe>
<pre id="found"></pre><script>
const pages = PAGES, found = [], frame = document.getElementById("frame");
function cut(page, width) {
  const inside = frame.contentDocument, root = inside.documentElement;
  if (width === 400 && root.scrollWidth > width) found.push(`${page}: scrolls sideways at 400`);
  if (width === 1280) {
    const blocks = "article pre, article .pst-scrollable-table-container";
    for (const block of inside.querySelectorAll(blocks)) {
      if (block.scrollWidth > block.clientWidth)
        found.push(`${page}: cut off at 1280: ` + block.textContent.trim().split("\\n")[0]);
    }
    for (const entry of inside.querySelectorAll(".bd-sidebar-secondary a")) {
      const right = entry.getBoundingClientRect().right;
      if (entry.scrollWidth > entry.clientWidth + 1 || right > width)
        found.push(`${page}: contents cut off at 1280: ` + entry.textContent.trim());
    }
    for (const head of inside.querySelectorAll("article th")) {
      if (!head.textContent.trim()) found.push(`${page}: a table has a head without words`);
    }
    const pictures = () => [...inside.querySelectorAll("article img")]
      .filter((picture) => picture.getClientRects().length);
    const calls = [...inside.querySelectorAll("article pre")].map((block) => block.textContent)
      .join("\\n").match(/^(>>>|\\.\\.\\.) (?!.*\\bax=).*?DRAWS/gm) || [];
    const drawn = page.startsWith("api/") ? Math.min(calls.length, 1) : calls.length;
    if (pictures().length < drawn)
      found.push(`${page}: ${calls.length} calls draw, ${pictures().length} pictures`);
    root.dataset.theme = "dark";
    for (const picture of pictures()) {
      if (!picture.matches(".only-dark, .dark-light, .toggler"))
        found.push(`${page}: light on a dark page: ` + picture.getAttribute("src"));
    }
    root.dataset.theme = "light";
  }
}
function next(i) {
  if (i === 2 * pages.length) {
    document.getElementById("found").textContent = JSON.stringify(found) + "END";
    return;
  }
  const page = pages[i >> 1], width = i % 2 ? 400 : 1280;
  frame.style.width = width + "px";
  frame.onload = () => { cut(page, width); next(i + 1); };
  frame.src = "/" + page;
}
next(0);
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serve the pages, and the harness beside them, without a log."""

    harness = b""

    def do_GET(self) -> None:
        """Send the harness or a page."""
        if self.path != "/check_pages":
            super().do_GET()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.harness)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def look(folder: Path, browser: str) -> list[str]:
    """Return what is wrong with the pages of a folder."""
    pages = sorted(page.relative_to(folder).as_posix() for page in folder.rglob("*.html"))
    Handler.harness = HARNESS.replace("PAGES", json.dumps(pages)).replace("DRAWS", DRAWS).encode()
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu"]
        command += [f"--user-data-dir={profile}", f"--virtual-time-budget={20_000 * len(pages)}"]
        command += ["--dump-dom", f"http://127.0.0.1:{server.server_port}/check_pages"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    server.shutdown()
    match = re.search(r'<pre id="found">(.*)END</pre>', done.stdout, re.DOTALL)
    if match is None:
        raise RuntimeError(f"the browser did not finish: {done.stderr[-500:]}")
    return list(json.loads(html.unescape(match[1])))


def main() -> int:
    """Print what is wrong, one line each."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stdout.write("no Chromium found; pages were not looked at\n")
        return 0
    found = look(Path(sys.argv[1]) if sys.argv[1:] else BUILT, browser)
    sys.stdout.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
