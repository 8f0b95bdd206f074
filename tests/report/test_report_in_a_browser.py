"""A reader opens the report, points at it, filters, switches colours and takes the table home."""

import csv
import re
import time

import numpy as np
import pytest

from browser import opened, pixels_of
from sknomad import NOMAD, MultiLayerNOMAD, datasets, nomad_path, report

pytestmark = pytest.mark.browser

X, TRUTH = datasets.two_rings(60)
EVIL = "</script><script>document.title = 'broken'</script><img src=x onerror=\"document.title = 'broken'\">"
NAMES = [f"=cmd {i}, {EVIL}" for i in range(60)]
BLUE, ORANGE = "0,114,178", "213,94,0"


@pytest.fixture(scope="module")
def model():
    return NOMAD(K=12, tol=1e-2).fit(X)


@pytest.fixture(scope="module")
def page(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    images = np.arange(60)[:, None, None] * np.ones((60, 8, 8))
    report(model, X, path, images, NAMES, labels=TRUTH, columns=["east <b>", "north"], command="sknomad fit x.csv")
    return path


@pytest.fixture(scope="module")
def browser(page, tmp_path_factory):
    downloads = tmp_path_factory.mktemp("downloads")
    with opened(page, downloads=downloads) as found:
        found.downloads = downloads
        yield found


def settle(browser):
    """Wait until the next picture is painted."""
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))")


def hover(browser, model, i):
    """Move the mouse over a point."""
    from selenium.webdriver import ActionChains

    canvas = browser.find_element("id", "map")
    width, height = canvas.size["width"], canvas.size["height"]
    (left, low), (right, high) = model.map_.min(axis=0), model.map_.max(axis=0)
    scale = min((width - 48) / (right - left), (height - 76) / (high - low))
    x = scale * (model.map_[i, 0] - (left + right) / 2)
    y = -13 - scale * (model.map_[i, 1] - (low + high) / 2)
    ActionChains(browser).move_to_element_with_offset(canvas, round(x), round(y)).perform()
    settle(browser)
    return browser.find_element("id", "tip")


def test_it_says_what_was_found_and_users_text_stays_text(browser):
    assert re.match(r"2 manifolds, 60 points; proven within [\d.]+ % of the best possible\.", browser.title)
    assert browser.find_element("id", "verdict").text == browser.title
    assert browser.find_elements("tag name", "img") == []
    assert browser.find_element("id", "repeat").text == "sknomad fit x.csv"


def test_hovering_names_the_point_and_shows_its_picture(browser, model):
    tip = hover(browser, model, 7)
    assert tip.is_displayed()
    assert NAMES[7] in tip.text
    assert f"manifold {model.labels_[7]}" in tip.text
    assert tip.find_element("css selector", ".picture").size["width"] >= 48
    browser.execute_script("document.getElementById('map').dispatchEvent(new PointerEvent('pointerleave'))")
    assert not tip.is_displayed()


def test_a_manifold_can_be_hidden_and_shown_again(browser):
    assert {BLUE, ORANGE} <= set(pixels_of(browser, "map"))
    button = browser.find_element("css selector", '[data-manifold="1"]')
    button.click()
    settle(browser)
    assert pixels_of(browser, "map").get(ORANGE, 0) == 0
    assert pixels_of(browser, "map")[BLUE] > 100
    assert button.get_attribute("aria-pressed") == "false"
    assert browser.find_element("id", "said").text == "30 of 60 points shown"
    button.click()
    settle(browser)
    assert pixels_of(browser, "map")[ORANGE] > 100


def test_colours_follow_the_choice(browser):
    from selenium.webdriver.support.select import Select

    choice = Select(browser.find_element("id", "colour"))
    assert [option.text for option in choice.options] == [
        "manifold", "position along it", "given labels", "east <b>", "north",
    ]  # fmt: skip
    before = pixels_of(browser, "map")
    for text in ("position along it", "east <b>", "given labels"):
        choice.select_by_visible_text(text)
        settle(browser)
        assert pixels_of(browser, "map") != before, text
        before = pixels_of(browser, "map")
    choice.select_by_visible_text("manifold")
    settle(browser)


def test_finding_a_row_leaves_it_alone(browser):
    find = browser.find_element("id", "find")
    find.send_keys("=cmd 17,")
    settle(browser)
    assert browser.find_element("id", "said").text == "1 of 60 points shown"
    assert NAMES[17] in browser.find_element("id", "tip").text
    find.clear()
    find.send_keys(" ")
    settle(browser)
    assert browser.find_element("id", "said").text == ""


def test_everything_is_reached_by_keys(browser):
    from selenium.webdriver import Keys

    canvas = browser.find_element("id", "map")
    before = pixels_of(browser, "map")
    canvas.send_keys("+", "+", Keys.ARROW_LEFT)
    settle(browser)
    assert pixels_of(browser, "map") != before
    canvas.send_keys("0")
    settle(browser)
    canvas.send_keys("n")
    settle(browser)
    first = browser.find_element("id", "said").text
    assert "manifold 0" in first
    canvas.send_keys("n")
    settle(browser)
    assert browser.find_element("id", "said").text != first
    canvas.send_keys(Keys.ESCAPE)
    reached = set()
    browser.execute_script("document.activeElement.blur()")
    body = browser.find_element("tag name", "body")
    for _ in range(25):
        body.send_keys(Keys.TAB)
        reached.add(browser.execute_script("return document.activeElement.id || document.activeElement.tagName"))
    assert {"colour", "find", "zoom-in", "zoom-out", "reset", "map", "download", "SUMMARY"} <= reached


def test_rows_are_listed_by_manifold(browser, model):
    details = browser.find_element("css selector", "#tables details")
    assert "Manifold 0, closed: 30 points" in details.text
    details.find_element("tag name", "summary").click()
    settle(browser)
    rows = details.find_elements("css selector", "tbody tr")
    listed = [int(row.find_element("tag name", "td").text) for row in rows]
    members = np.flatnonzero(model.labels_ == 0)
    assert listed == members[np.argsort(model.order_[members], kind="stable")].tolist()


def test_the_table_taken_home_is_that_of_the_model(browser, model):
    browser.find_element("id", "download").click()
    path = browser.downloads / "rows.csv"
    for _ in range(200):
        if path.exists():
            break
        time.sleep(0.05)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["row"]) for row in rows] == list(range(60))
    assert [int(row["manifold"]) for row in rows] == model.labels_.tolist()
    np.testing.assert_allclose([float(row["map_x"]) for row in rows], model.map_[:, 0], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose([float(row["map_y"]) for row in rows], model.map_[:, 1], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose([float(row["position"]) for row in rows], model.order_, rtol=1e-6)
    assert rows[3]["name"] == f"'{NAMES[3]}"  # no formula for a spreadsheet
    assert [int(row["given"]) for row in rows] == TRUTH.tolist()


def test_the_console_stays_silent(browser):
    # Chromium remarks that these tests read pixels back; the page itself never does.
    assert [line for line in browser.get_log("browser") if "getImageData" not in line["message"]] == []


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1440, True)])
def test_it_fits_any_screen_in_both_schemes(page, width, dark):
    with opened(page, width=width, dark=dark) as browser:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) == dark
        settle(browser)
        assert len(pixels_of(browser, "map")) > 2
        assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [390, 1440])
def test_layers_and_the_search_are_shown(width, tmp_path):
    model = MultiLayerNOMAD(tol=1e-1, allow_single_cluster=False).fit(X)
    report(model, X, tmp_path / "layers.html")
    with opened(tmp_path / "layers.html", width=width) as browser:
        assert len(browser.find_elements("css selector", "#layers canvas")) == len(model.layers_)
        rows = browser.find_elements("css selector", "#search tbody tr")
        shown = [[int(cell.text) for cell in row.find_elements("tag name", "td")] for row in rows]
        assert np.array_equal(np.array(shown).T, model.search_.n_parts)
        assert len(browser.find_elements("css selector", "#path circle")) == len(model.search_.K_values)
        assert "2 clusters" in browser.find_element("id", "spectrum").text
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.get_log("browser") == []


def test_a_path_is_drawn_and_what_is_not_known_leaves_no_empty_card(model, page, tmp_path):
    report(model, X, tmp_path / "path.html", K_path=nomad_path(X, [4, 8, 12], tol=1e-1))
    with opened(tmp_path / "path.html") as browser:
        assert len(browser.find_elements("css selector", "#path circle")) == 3
        assert not browser.find_element("id", "layers-card").is_displayed()
        assert browser.find_elements("css selector", "#search table") == []
        assert browser.get_log("browser") == []
    with opened(page) as browser:
        assert not browser.find_element("id", "path-card").is_displayed()
