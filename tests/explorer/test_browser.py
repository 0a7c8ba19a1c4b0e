"""The page in a real browser: what a person does, no error in the console, no other host."""

from __future__ import annotations

import json
import shutil
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from explorer_page import table_of

from shortlist.explorer import answer
from shortlist.explorer.serve import listening_server

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SETTLED = "main:not(:has([aria-busy=true]))"
SOLVED = "#model[aria-busy=false]"


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(prepared):
    with listening_server(prepared, 1.0, 0) as (server, listener, address):
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        yield address
        server.should_exit = True
        thread.join()


@pytest.fixture
def page(browser, address):
    """A page that fails the test if it complains or asks anybody else."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    complaints, hosts = [], set()
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page.goto(address)
    page.wait_for_selector(SOLVED)
    page.expected = []  # refusals by the server, which a browser reports as errors
    yield page
    unexpected = [text for text in complaints if not any(part in text for part in page.expected)]
    assert unexpected == []
    assert hosts - {""} == {urlsplit(address).netloc}
    context.close()


def text_of(page, selector):
    return page.locator(selector).inner_text()


def set_slider(page, value):
    page.locator("#limit-slider").fill(str(value))


def enter(field, text):
    """Type into a field and finish the entry."""
    field.fill(text)
    field.press("Enter")


def figures(page):
    """What the page shows as current: number of predictors, cost (of budget), loss."""
    page.wait_for_selector(SOLVED)
    return [text_of(page, f"#model dd >> nth={i}") for i in range(3)]


def bought(page):
    """The first column of the model's table, which is current."""
    page.wait_for_selector(SOLVED)
    return page.locator("#model tbody td:first-child").all_inner_texts()


def wait_for(page, part):
    page.wait_for_selector(f"#{part}[aria-busy=false]", timeout=20_000)


def test_it_loads_and_all_parts_settle(page):
    page.wait_for_selector(SETTLED, timeout=20_000)
    assert "1090 patients" in text_of(page, "#data-line")
    assert text_of(page, "#proof") == "✓ Proven best, ridge 1"
    assert page.locator("#staircase svg .here-dot").count() == 1
    assert page.locator("#performance svg").count() == 2
    assert page.locator("#performance svg circle").count() == 10
    assert "100 bootstrap resamples" in text_of(page, "#stability")
    assert page.locator(".error:visible").count() == 0


def test_the_budget_is_dragged_through_the_whole_range(page):
    highest = int(page.locator("#limit-slider").get_attribute("max"))
    losses = []
    for budget in range(highest + 1):
        set_slider(page, budget)
        if budget % 7 == 0 or budget == highest:  # in between, newer moves overtake older ones
            _, cost, loss = figures(page)
            assert cost.endswith(f" of {budget}")
            assert float(cost.split()[0]) <= budget
            assert f"a budget of {budget} " in text_of(page, "#verdict")
            losses.append(float(loss))
    assert losses == sorted(losses, reverse=True)
    assert "14 of 14 bought" in text_of(page, "#bought-count")


def test_dragging_with_the_mouse_moves_the_model(page):
    box = page.locator("#limit-slider").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 3, middle)
    page.mouse.down()
    for share in range(30, 90, 5):
        page.mouse.move(box["x"] + box["width"] * share / 100, middle)
    page.mouse.up()
    _, cost, _ = figures(page)
    value = page.locator("#limit-slider").input_value()
    assert cost.endswith(f" of {value}")
    assert 50 < int(value) < 70


def test_a_model_for_older_settings_is_never_shown_as_current(page):
    wait_for(page, "alternatives")
    page.route("**/api/*", lambda route: None)  # the answers never come
    set_slider(page, 9)
    page.wait_for_selector("#model[aria-busy=true]")
    assert text_of(page, "#proof") == "Solving…"
    assert text_of(page, "#verdict").endswith("solving…")
    assert "proven" not in text_of(page, "#verdict")
    assert page.locator("#predictors[aria-busy=true]").count() == 1
    assert page.locator("#alternatives[aria-busy=true]").count() == 1
    page.unroute("**/api/*")
    set_slider(page, 10)
    _, cost, _ = figures(page)
    assert cost.endswith(" of 10")
    assert text_of(page, "#verdict").endswith("proven best")
    assert page.locator("#predictors[aria-busy=false]").count() == 1


def test_settings_that_come_back_are_proven_again(page):
    page.evaluate(
        """() => {
            const slider = document.getElementById("limit-slider");
            for (const value of [20, slider.value]) {
                slider.value = value;
                slider.dispatchEvent(new Event("input"));
            }
        }"""
    )
    figures(page)
    assert text_of(page, "#proof") == "✓ Proven best, ridge 1"
    assert text_of(page, "#verdict").endswith("proven best")


def test_no_steps_of_an_older_staircase(page):
    wait_for(page, "staircase")
    assert page.locator("#step-up").is_enabled()
    page.route("**/api/staircase", lambda route: None)
    page.locator("#limit-kind input[value=count]").check()
    assert page.locator("#step-up").is_disabled()
    before = page.locator("#limit-slider").input_value()
    page.locator("#staircase svg").click()
    assert page.locator("#limit-slider").input_value() == before


def test_steps_by_keyboard(page):
    wait_for(page, "staircase")
    page.locator("#limit-slider").focus()
    page.keyboard.press("Home")
    assert figures(page)[1] == "0 of 0"
    assert "No predictor is bought" in text_of(page, "#model")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # the step above
    assert figures(page)[1] == "1 of 1"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowRight")
    assert figures(page)[1] == "2 of 2"


def test_predictors_are_forced_forbidden_and_priced(page):
    def choose(name, value):
        page.locator(f'[aria-label="Use of {name}"] input[value={value}]').check()

    choose("uninformative_6", "must")
    assert "uninformative_6" in bought(page)
    assert "vs previous selection" in text_of(page, "#model")
    assert "loss" in text_of(page, "#model .difference")
    choose("informative_5", "never")
    assert "informative_5" not in bought(page)
    choose("uninformative_6", "free")
    choose("informative_5", "free")
    assert {"informative_2", "informative_5"} <= set(bought(page))
    enter(page.get_by_label("Price of informative_2"), "60")
    assert "informative_2" not in bought(page)


def test_losses_of_another_ridge_are_not_compared(page):
    page.locator('[aria-label="Use of uninformative_6"] input[value=must]').check()
    assert "uninformative_6" in bought(page)
    assert "loss" in text_of(page, "#model .difference")
    enter(page.locator("#ridge"), "0.7")
    page.wait_for_selector("#proof:has-text('ridge 0.7')")
    assert "AUC" in text_of(page, "#model .difference")
    assert "loss" not in text_of(page, "#model .difference")


def test_what_must_be_bought_and_is_too_dear_is_said(page):
    page.expected.append("400")
    page.locator('[aria-label="Use of uninformative_6"] input[value=must]').check()
    set_slider(page, 3)
    page.wait_for_selector("#model .error")
    assert "cost 10, more than the budget of 3" in text_of(page, "#model .error")
    assert text_of(page, "#proof") == "No model"
    set_slider(page, 12)
    assert figures(page)[1].endswith(" of 12")


def test_a_shared_fee_is_added(page):
    page.locator("#add-fee").click()
    enter(page.get_by_label("Amount of fee 2"), "50")
    page.locator('[aria-label="Shared fee 2"] summary').click()
    page.locator('[aria-label="Shared fee 2"] input[type=checkbox]').nth(4).check()
    assert page.evaluate("document.activeElement.type") == "checkbox"
    assert "informative_5" not in bought(page)
    assert "for informative_5" in text_of(page, '[aria-label="Shared fee 2"] summary')
    assert "shares a fee of 50" in text_of(page, '[role=group][aria-label="informative_5"]')


def test_an_alternative_is_adopted_and_a_reload_restores_all(page):
    set_slider(page, 30)
    wait_for(page, "alternatives")
    page.locator("#alternatives tbody tr >> nth=1").get_by_role("button").click()
    page.wait_for_selector("#model .adopted")
    figures(page)
    assert "worse than the best" in text_of(page, "#proof")
    assert page.locator("[data-save=certificate]").is_disabled()
    wait_for(page, "alternatives")
    assert page.evaluate("document.activeElement.textContent") == "Shown"
    enter(page.get_by_label("Price of redundant_1"), "6.5")  # other settings end the adoption
    figures(page)
    assert page.locator("#model .adopted").count() == 0
    wait_for(page, "alternatives")
    page.locator("#alternatives tbody tr >> nth=1").get_by_role("button").click()
    page.wait_for_selector("#model .adopted")
    before = figures(page), text_of(page, "#model table")
    page.wait_for_timeout(400)  # the address follows a moment later
    page.reload()
    assert (figures(page), text_of(page, "#model table")) == before
    assert page.get_by_label("Price of redundant_1").input_value() == "6.5"
    page.get_by_text("Return to the best").click()
    figures(page)
    assert text_of(page, "#proof") == "✓ Proven best, ridge 1"


def test_settings_are_saved_and_opened(page, tmp_path):
    set_slider(page, 11)
    saved = tmp_path / "settings.json"
    page.locator("#save-menu summary").click()
    with page.expect_download() as download:
        page.locator("#save-settings").click()
    download.value.save_as(saved)
    assert json.loads(saved.read_text())["budget"] == 11
    set_slider(page, 50)
    page.locator("#open-settings").set_input_files(saved)
    page.locator("#model dd", has_text=" of 11").wait_for()
    assert figures(page)[1].endswith(" of 11")
    saved.write_text("[]")
    page.locator("#open-settings").set_input_files(saved)
    page.wait_for_selector("#notice:visible")
    assert "is not a settings file" in text_of(page, "#notice")


def test_model_and_certificate_are_saved(page, tmp_path):
    for what, word in (("model", "shortlist model"), ("certificate", "shortlist certificate")):
        page.locator("#save-menu summary").click()
        with page.expect_download() as download:
            page.locator(f"[data-save={what}]").click()
        assert download.value.suggested_filename == f"{what}.json"
        download.value.save_as(tmp_path / what)
        assert json.loads((tmp_path / what).read_text())["format"] == word


def test_a_broken_file_is_explained_and_a_good_one_taken(page, tmp_path):
    page.expected.append("400")
    page.locator("#open-load").click()
    broken = tmp_path / "broken.csv"
    broken.write_text("a,b\n1,2\n3\n")
    page.locator("#data-file").set_input_files(broken)
    page.wait_for_selector("#load-error:visible")
    assert text_of(page, "#load-error").startswith("broken.csv: row 2 has 1 cells")
    name = '<img src=x onerror="document.title=1">'
    good = tmp_path / "good.csv"
    table_of(90).rename(columns={"age": name}).to_csv(good, index=False)
    page.locator("#data-file").set_input_files(good)
    page.locator("#outcome").select_option("fate")
    page.locator("#event").select_option("dead")
    page.locator("#load-choices input[value=grade] >> nth=1").check()
    page.locator("#use-data").click()
    page.wait_for_selector("#load-dialog:not([open])", state="attached")
    wait_for(page, "performance")
    page.wait_for_selector(SOLVED)
    assert "good.csv: 90 patients" in text_of(page, "#data-line")
    assert name in text_of(page, "#model table")
    assert page.locator("main img").count() == 0
    assert page.title() == "shortlist explorer"
    page.reload()
    page.wait_for_selector(SOLVED)
    assert "good.csv: 90 patients" in text_of(page, "#data-line")


def test_one_patient(page):
    wait_for(page, "patient")
    assert "Enter the patient's values" in text_of(page, "#patient .content")
    assert page.locator("#patient .risk").count() == 0
    risks = []
    for value in ("0.1", "0.9"):
        page.get_by_label("informative_5", exact=True).last.fill(value)
        page.wait_for_selector("#patient[aria-busy=true]", state="attached")
        page.wait_for_selector("#patient[aria-busy=false]")
        risks.append(float(text_of(page, "#patient .risk").split(" %")[0]))
    assert risks[0] < risks[1]
    page.get_by_label("informative_5", exact=True).last.fill("")
    page.wait_for_selector("#patient .risk", state="detached")


def test_a_price_that_is_none_stays_and_is_said(page):
    price = page.get_by_label("Price of informative_1")
    price.fill("-3")
    page.get_by_label("Price of informative_2").focus()
    assert price.input_value() == "-3"
    complaint = (
        "The price of informative_1 must be a number from 0 to 1,000,000,000; 2 is still used."
    )
    assert complaint in text_of(page, "#predictors")
    price.fill("3")
    assert page.locator("#predictors .wrong").count() == 0
    enter(page.locator("#ridge"), "0")
    page.locator("#limit-number").fill("-1")
    price.focus()
    assert "The ridge must be a number from 0.0001" in text_of(page, "#predictors")
    assert "The limit must be a number from 0" in text_of(page, ".limit")


def test_the_slider_reaches_from_button_to_button_on_a_phone(browser, address):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector(SOLVED)
    down, slider, up = (
        page.locator(selector).bounding_box()
        for selector in ("#step-down", "#limit-slider", "#step-up")
    )
    assert 0 <= slider["x"] - (down["x"] + down["width"]) < 16
    assert 0 <= up["x"] - (slider["x"] + slider["width"]) < 16
    page.touchscreen.tap(slider["x"] + slider["width"] - 2, slider["y"] + slider["height"] / 2)
    page.wait_for_selector(SOLVED)
    highest = page.locator("#limit-slider").get_attribute("max")
    assert page.locator("#limit-number").input_value() == highest
    context.close()


def test_scores_are_corrected_and_marked_when_out_of_date(page):
    page.wait_for_selector("#optimism[aria-busy=false]", timeout=30_000)
    cells = page.locator("#optimism tbody td").all_inner_texts()
    assert cells[0] == "AUC" and cells[3] == "100"
    assert 0.5 < float(cells[2]) < float(cells[1]) < 1
    assert page.locator("#optimism .updating").is_hidden()
    set_slider(page, 10)
    page.wait_for_selector("#optimism[aria-busy=true]")
    assert page.locator("#optimism .updating").is_visible()
    page.wait_for_selector("#optimism[aria-busy=false]", timeout=30_000)


@pytest.mark.parametrize(
    ("text", "limit"),
    [("15,5", "15.5"), ("15.5", "15.5"), ("1e2", "100"), (" 7 ", "7")],
)
def test_a_limit_is_read_as_it_is_meant_once_it_is_entered(page, text, limit):
    solves = []
    page.on("request", lambda request: request.url.endswith("/solve") and solves.append(request))
    field = page.locator("#limit-number")
    field.fill("")
    field.press_sequentially(text, delay=30)
    page.wait_for_timeout(300)
    assert solves == []  # nothing is solved before the entry is finished
    field.press("Enter")
    assert figures(page)[1].endswith(f" of {limit}")
    assert len(solves) == 1
    assert field.input_value() == limit


@pytest.mark.parametrize("text", ["-3", "1e12", "1,000", "many", "", "1 000", "12-"])
def test_a_limit_that_is_none_is_said_beside_the_field(page, text):
    before = figures(page)
    enter(page.locator("#limit-number"), text)
    assert "The limit must be a number from 0 to 1,000,000,000" in text_of(page, ".limit-row")
    assert page.locator("#limit-number").input_value() == text
    assert figures(page) == before
    page.locator("#limit-kind label >> nth=1").click()
    enter(page.locator("#limit-number"), "2.5")
    assert "must be a whole number" in text_of(page, ".limit-row")


def test_the_cheapest_selection_is_taken_at_the_press_of_a_button(page):
    enter(page.locator("#limit-number"), "40")
    _, cost, loss = figures(page)
    page.locator("#tolerance").select_option("0.05")
    page.locator("#cheapest").click()
    page.wait_for_selector("#notice:has-text('proven, none is cheaper')")
    _, cheaper, higher = figures(page)
    spent, _, budget = cheaper.partition(" of ")
    assert spent == budget
    assert float(spent) < float(cost.split()[0])
    assert float(loss) < float(higher) <= 1.05 * float(loss) + 0.01


def test_no_column_is_taken_for_the_outcome_where_several_could_be(page, tmp_path):
    table = table_of(60)
    table.assign(readmitted=(table["fate"] == "dead").astype(int)).to_csv(
        tmp_path / "t.csv", index=False
    )
    page.locator("#open-load").click()
    page.locator("#data-file").set_input_files(tmp_path / "t.csv")
    page.locator("#use-data").click()
    assert "Choose the column that is the outcome" in text_of(page, "#load-error")
    page.locator("#outcome").select_option("fate")
    page.locator("#use-data").click()
    page.wait_for_selector(
        "#notes li:has-text(\"'readmitted' is almost the same\")", timeout=20_000
    )
    assert "cost" not in text_of(page, "#model dl")  # nothing has a price
    assert "selected" in text_of(page, "#bought-count")


def test_a_patient_s_number_may_have_a_decimal_comma(page):
    wait_for(page, "patient")
    field = page.get_by_label("informative_5", exact=True).last
    risks = []
    for text in ("0.25", "0,25"):
        field.fill("")
        page.wait_for_selector("#patient .risk", state="detached")
        field.fill(text)
        page.wait_for_selector("#patient .risk")
        page.wait_for_selector("#patient[aria-busy=false]")
        risks.append(text_of(page, "#patient .risk"))
    assert risks[0] == risks[1]
    field.fill("old")
    assert "This is not a number" in text_of(page, "#patient-form")


def test_copies_are_noted(page, tmp_path):
    wait_for(page, "notes")
    table = table_of(90)
    table.assign(years=table["age"]).to_csv(tmp_path / "t.csv", index=False)
    page.locator("#open-load").click()
    page.locator("#data-file").set_input_files(tmp_path / "t.csv")
    page.locator("#outcome").select_option("fate")
    page.locator("#use-data").click()
    page.wait_for_selector(
        "#notes li:has-text(\"'age' and 'years' carry the same\")", timeout=20_000
    )


def test_the_ridge_is_tuned_at_the_press_of_a_button(page):
    page.locator("#tune").click()
    page.wait_for_selector("#tuning:has-text('by 5-fold cross-validation')", timeout=30_000)
    ridge = page.locator("#ridge").input_value()
    assert text_of(page, "#tuning").startswith(
        f"Ridge {ridge}: the best of 10, 3, 1, 0.3, 0.1, 0.03, 0.01"
    )
    assert figures(page)
    set_slider(page, 12)
    assert page.locator("#tuning").inner_text() == ""  # it was for other settings


def test_a_list_of_alternatives_is_cancelled_and_asked_for_again(page, monkeypatch):
    running, end = Event(), Event()
    listed = answer.near_optimal

    def wait(problem, *arguments, callback, **options):
        running.set()
        while not end.is_set():
            callback(None)
        return listed(problem, *arguments, **options)

    page.wait_for_selector(SETTLED, timeout=30_000)
    page.expected.append("409")
    monkeypatch.setattr(answer, "near_optimal", wait)
    page.locator("#tolerance").select_option("0.05")
    assert running.wait(20)
    page.locator("#cancel-alternatives").click()
    assert text_of(page, "#alternatives .content").startswith("Cancelled.")
    end.set()
    page.locator("#alternatives .content button").click()
    page.wait_for_selector("#alternatives table")


def test_the_event_is_proposed_only_where_it_is_obvious(page, tmp_path):
    table = table_of(60).assign(code="x", reply="nein")
    table.loc[::2, "code"] = "y"
    table.loc[::3, "reply"] = "ja"
    table.to_excel(tmp_path / "t.xlsx", index=False)
    page.locator("#open-load").click()
    page.locator("#data-file").set_input_files(tmp_path / "t.xlsx")
    page.locator("#outcome").select_option("reply")
    assert page.locator("#event").input_value() == "ja"
    page.locator("#outcome").select_option("code")
    assert page.locator("#event").input_value() == ""
    page.locator("#use-data").click()
    assert "Choose which value of code is the event" in text_of(page, "#load-error")
    page.locator("#outcome").select_option("fate")
    assert page.locator("#event").input_value() == "dead"
    page.locator("#use-data").click()
    page.wait_for_selector("#load-dialog:not([open])", state="attached")
    assert "with fate = dead" in text_of(page, "#data-line")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_nothing_is_wider_than_the_screen(browser, address, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(address)
    page.wait_for_selector(SOLVED)
    page.wait_for_selector(SETTLED, timeout=20_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_every_control_has_a_name(page):
    page.wait_for_selector(SETTLED, timeout=20_000)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, summary, [role=img]")]
            .filter((node) => !(node.getAttribute("aria-label") || node.textContent.trim()
                || [...(node.labels ?? [])].some((label) => label.textContent.trim())))
            .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    unlike_what_is_seen = page.evaluate(
        """() => [...document.querySelectorAll("#predictors .segments label, #alternatives button")]
            .filter((node) => !(node.querySelector("input") ?? node).ariaLabel
                .includes(node.textContent))
            .map((node) => node.outerHTML)"""
    )
    assert unlike_what_is_seen == []
    assert page.locator(".scroll[tabindex]:not([role=region][aria-label])").count() == 0


def test_what_was_opened_stays_open_and_focused(page):
    page.get_by_text("The equation").focus()
    page.keyboard.press("Enter")
    page.evaluate("document.getElementById('limit-slider').value = 20")
    page.evaluate("document.getElementById('limit-slider').dispatchEvent(new Event('input'))")
    assert figures(page)[1].endswith(" of 20")
    assert page.locator("#model .equation").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "The equation"
