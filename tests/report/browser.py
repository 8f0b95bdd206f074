"""A headless Chromium with its own driver, and what a reader does with a report in it."""

import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")


@contextmanager
def opened(path, *, width=1440, height=900, dark=False, downloads=None):
    """The browser with a page in it, of a given size and scheme of colours."""
    webdriver = pytest.importorskip("selenium.webdriver")
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    try:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        browser.get(path.as_uri())
        assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
        yield browser
    finally:
        browser.quit()


def pixels_of(browser, canvas):
    """How many pixels of a canvas have each colour, the background left out."""
    return browser.execute_script(
        """
        const canvas = document.getElementById(arguments[0]), counts = {};
        const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        for (let k = 0; k < data.length; k += 4) if (data[k + 3] === 255) {
            const colour = [data[k], data[k + 1], data[k + 2]].join(','); counts[colour] = (counts[colour] || 0) + 1;
        }
        return counts;
        """,
        canvas,
    )
