"""Opens the built site in Chromium, from its files: narrow and wide, light and dark.

It fails where a page is wider than its window, where anything is loaded over the network, where a picture is missing, and where the
search finds nothing. It needs ``pip install selenium``, Chromium and its driver (Debian: ``chromium chromium-driver``).

    python docs/_generate/look.py SHOTS    # writes screenshots into the folder SHOTS
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SITE = Path(__file__).parents[2] / "build/site"
WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
PAGES = (
    "index",
    "errors",
    "gallery/index",
    "gallery/kalman_filter",
    "api/transpile",
    "coverage",
    "benchmarks",
    "notebooks/fitting_a_model",
)
"""Those of which there are screenshots; all others are looked at, too."""
WANTED = {
    "value_and_grad": "api/transpile",
    "Kalman": "gallery/kalman_filter",
    "logsumexp": "coverage",
    "T104": "errors",
}
"""What is searched for, and a page that must be found."""
TOO_WIDE = "return document.documentElement.scrollWidth - window.innerWidth"
BROKEN = "return [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"
LINKS = "return [...document.querySelectorAll('#search-results a')].map(a => a.getAttribute('href'))"


def browser() -> Any:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    driver = shutil.which("chromedriver")  # else selenium asks the network for one
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver) if driver else None)


def requests(driver: Any) -> Iterator[str]:
    """What the pages have asked for since the last call, local files apart."""
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            if not url.startswith(("file:", "data:", "chrome:", "about:", "blob:")):
                yield url


def look(driver: Any, shots: Path) -> Iterator[str]:
    """Every page in every size and colour; what is wrong."""
    list(requests(driver))
    for width in WIDTHS:
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for scheme in SCHEMES:
            driver.execute_cdp_cmd(
                "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
            )
            for path in sorted(SITE.rglob("*.html")):
                page = path.relative_to(SITE).with_suffix("").as_posix()
                driver.get(path.as_uri())
                name = f"{page.replace('/', '-')}-{width}-{scheme}"
                if page in PAGES:
                    (shots / f"{name}.png").write_bytes(driver.get_screenshot_as_png())
                if driver.execute_script(TOO_WIDE) > 0:
                    yield f"{name} is {driver.execute_script(TOO_WIDE)} pixels too wide"
                yield from (f"{name}: no picture {url}" for url in driver.execute_script(BROKEN))
    for text, page in WANTED.items():
        driver.get((SITE / "index.html").as_uri())
        driver.find_element("css selector", ".sidebar-search").send_keys(f"{text}\n")
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not any(page in link for link in driver.execute_script(LINKS)):
            time.sleep(0.2)
        found = driver.execute_script(LINKS)
        (shots / f"search-{text}.png").write_bytes(driver.get_screenshot_as_png())
        if not any(page in link for link in found):
            yield f"a search for {text} does not find {page}, but {found}"
    yield from (f"loaded over the network: {url}" for url in requests(driver))
    yield from (f"console: {e['message']}" for e in driver.get_log("browser") if e["level"] == "SEVERE")


if __name__ == "__main__":
    shots = Path(sys.argv[1])
    shots.mkdir(parents=True, exist_ok=True)
    driver = browser()
    try:
        wrong = list(look(driver, shots))
    finally:
        driver.quit()
    print("\n".join(wrong) or f"all is well; screenshots in {shots}")
    sys.exit(bool(wrong))
