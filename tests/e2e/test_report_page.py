"""The page of `harness report` in a real browser."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from harness.domain.reconciliation import RowSubject
from harness.errors import ModelRefusedError
from harness.results.as_json import reconciliation_to_json
from harness.results.reconcile import reconcile, without_measurement
from tests.support.boards import BOARD
from tests.support.figures import ESTIMATE, MEASUREMENT
from tests.support.models import skipping

pytest.importorskip("jinja2")
webdriver = pytest.importorskip("selenium.webdriver")
By = pytest.importorskip("selenium.webdriver.common.by").By
Keys = pytest.importorskip("selenium.webdriver.common.keys").Keys

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">\u202e"
SHOWN = HOSTILE.replace("\u202e", "\\u202e")
USED_BYTES = {"big.tflite": 9000, "middle.tflite": 800, "small.tflite": 70}


def hostile_model() -> bytes:
    model = skipping()
    model.tensors[1].name = HOSTILE
    return model.build()


def rows(model: bytes):
    for name, used in {**USED_BYTES, HOSTILE: 1000}.items():
        digest = sha256(model).hexdigest() if name == HOSTILE else sha256(name.encode()).hexdigest()
        same: dict[str, Any] = {"model": name, "sha256": digest, "board": BOARD}
        measured = replace(MEASUREMENT, arena_used_bytes=used, **same)
        yield reconcile(replace(ESTIMATE, arena_used_bytes=used + (10 if used == 800 else 0), **same), measured)
    yield without_measurement(RowSubject("refused.tflite", "", BOARD, "2020-07"), None, ModelRefusedError(HOSTILE))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The address of a page about four models that ran, one that was refused, and names made to do harm."""
    folder = tmp_path_factory.mktemp("report")
    model = hostile_model()
    (folder / "model.tflite").write_bytes(model)
    (folder / "run.json").write_text(json.dumps([reconciliation_to_json(row) for row in rows(model)]))
    command = [sys.executable, "-m", "harness", "report", folder / "run.json", "--models", folder]
    subprocess.run([*command, "-o", folder / "page.html"], check=True)
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no browser: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield started
    started.quit()


@pytest.fixture
def opened(browser, page):
    for log in ("browser", "performance"):
        browser.get_log(log)  # what belongs to the test before
    resize(browser, 1280)
    browser.get(page)
    return browser


def resize(browser, width, scheme="light"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def find_all(browser, selector):
    return browser.find_elements(By.CSS_SELECTOR, selector)


def column(browser, number):
    return [cell.text for cell in find_all(browser, f"#reconciliation tbody tr > :nth-child({number})")]


def heading(browser, title):
    return next(button for button in find_all(browser, "#reconciliation thead button") if button.text.startswith(title))


def bar(browser, name):
    bars = find_all(browser, ".timeline .buffer")
    return next(each for each in bars if each.get_attribute("aria-label").split("\n")[0] == name)


def network(browser, event):
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [message["params"] for message in messages if message["method"] == f"Network.{event}"]


def test_the_page_says_nothing_to_the_console_and_asks_for_nothing_else(opened, page):
    heading(opened, "Measured").click()
    for details in find_all(opened, "details.plan > summary"):
        details.click()
    assert opened.get_log("browser") == []
    asked = network(opened, "requestWillBeSent")
    assert {sent["request"]["url"] for sent in asked if not sent["request"]["url"].startswith("data:")} == {page}


def test_names_made_to_do_harm_stay_text(opened):
    assert opened.title.startswith("Arena report")
    assert SHOWN in column(opened, 1)
    assert find_all(opened, "img") == []
    assert len(find_all(opened, "script")) == 2
    assert bar(opened, SHOWN).get_attribute("aria-label").startswith(SHOWN)


def test_a_script_that_slipped_in_would_not_run(opened):
    opened.execute_script("""
        const script = document.createElement("script");
        script.textContent = "document.title = 'owned'";
        document.body.append(script);
        const image = document.createElement("img");
        image.setAttribute("onerror", "document.title = 'owned'");
        image.src = "https://example.org/x.png";
        document.body.append(image);
    """)
    assert opened.title.startswith("Arena report")
    refused = [entry["message"] for entry in opened.get_log("browser")]
    assert sum("Content Security Policy" in message for message in refused) >= 2
    assert [failed["blockedReason"] for failed in network(opened, "loadingFailed")] == ["csp"]


def test_pointing_at_a_bar_shows_its_tensor(opened):
    target = bar(opened, SHOWN)
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", target)
    assert not find(opened, "#tip").is_displayed()
    webdriver.ActionChains(opened).move_to_element(target).perform()
    assert find(opened, "#tip").text.split("\n") == [
        SHOWN,
        "float32 [1, 16]",
        "64 bytes at offset 64",
        "operator 0 to operator 4",
    ]
    webdriver.ActionChains(opened).move_to_element(find(opened, "#memory-title")).perform()
    assert not find(opened, "#tip").is_displayed()


def test_bars_are_walked_by_keyboard(opened):
    bars = find_all(opened, ".timeline .buffer")
    assert [each.get_attribute("tabindex") for each in bars].count("0") == 1
    opened.execute_script("arguments[0].focus()", bars[0])
    told = [find(opened, "#tip").text]
    for key in (Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_LEFT, Keys.END):
        opened.switch_to.active_element.send_keys(key)
        told.append(find(opened, "#tip").text)
    labels = [each.get_attribute("aria-label") for each in bars]
    assert told == [labels[0], labels[1], labels[2], labels[1], labels[-1]]
    opened.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not find(opened, "#tip").is_displayed()


def test_the_table_is_sorted_by_click(opened):
    measured = heading(opened, "Measured")
    measured.click()
    assert column(opened, 6) == ["70", "800", "1,000", "9,000", ""]
    measured.click()
    assert column(opened, 6) == ["9,000", "1,000", "800", "70", ""]
    assert measured.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"


def test_the_table_is_sorted_by_keyboard(opened):
    find(opened, ".filter input").click()
    for _ in range(4):  # over the scrolled region, Model and Verdict, to Error
        opened.switch_to.active_element.send_keys(Keys.TAB)
    assert opened.switch_to.active_element.text == "Error"
    opened.switch_to.active_element.send_keys(Keys.ENTER)
    opened.switch_to.active_element.send_keys(Keys.SPACE)
    assert column(opened, 3) == ["+10", "0", "0", "0", ""]


def test_the_table_is_filtered(opened):
    find(opened, ".filter input").send_keys("MIDDLE.tflite over")
    shown = [row for row in find_all(opened, "#reconciliation tbody tr") if row.is_displayed()]
    assert shown == []
    find(opened, ".filter input").send_keys(Keys.BACKSPACE * len("over"))
    assert find(opened, "[data-filter-status]").text == "1 of 5 rows"


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_no_wider_than_the_screen(opened, width):
    resize(opened, width)
    opened.refresh()
    assert opened.execute_script("return document.documentElement.scrollWidth") <= width


def luminance(colour):
    channels = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(opened, scheme):
    """WCAG 2.1, success criterion 1.4.3: a contrast of at least 4.5 to 1."""
    resize(opened, 1280, scheme)
    style = "return getComputedStyle(arguments[0])[arguments[1]]"
    card = luminance(opened.execute_script(style, find(opened, "#table"), "backgroundColor"))
    assert (card > 0.5) == (scheme == "light")
    for selector in ("#table h2", "#memory .quiet", ".badge.ok", ".badge.fail"):
        text = luminance(opened.execute_script(style, find(opened, selector), "color"))
        lighter, darker = max(text, card), min(text, card)
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5, selector
