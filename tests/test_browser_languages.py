"""Worker pages in other languages in a real browser: from consent to submit, from right to left, and by character."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from asking import write_qasrl_study
from browsing import CHROMIUM, WIDER_THAN_SCREEN, Scene, Site, barriers, nothing_goes_wrong
from chorale.folder.templates import create_study_from_files
from test_languages import write_study

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
BUDGET = 120_000
ENGLISH = "Continue|Submit|Skip|Overview|Guidelines|Start|Choose|Write|Mark|Remove|Sign out|earned|answers"
"""Words of English pages that none of these pages may have."""
FORM = """
[[stage.options.shows]]
item = "text"
label = "النص"

[[stage.options.fields]]
name = "tone"
kind = "choice"
ask = "كيف تبدو هذه الجملة؟"
options = ["مهذبة", "محايدة"]

[[stage.options.fields]]
name = "words"
kind = "spans"
ask = "أي الكلمات مهمة؟"
item = "text"
options = ["من", "متى"]

[[stage.options.fields]]
name = "why"
kind = "long_text"
ask = "لماذا؟"
min_words = 3
"""
ARABIC = {"text": "تعال في السابعة إن استطعت، وأحضر الآخرين معك."}
CHINESE = (
    FORM.replace("النص", "文本")
    .replace("كيف تبدو هذه الجملة؟", "语气如何？")
    .replace("أي الكلمات مهمة؟", "哪些词重要？")
)


@pytest.fixture
def scene(request: pytest.FixtureRequest, chromium: Browser, tmp_path: Path) -> Iterator[Scene]:
    """Somebody new in a study of a language; nothing may go wrong on any page."""
    language, options, row = request.param
    with Site(write_study(tmp_path / "study", language, options, row)) as site:
        with nothing_goes_wrong(chromium, site) as opened:
            yield opened


def check(page: Page) -> None:
    """Nothing is wider than the screen, nobody is kept out, and nothing is English."""
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    assert barriers(page) == ""
    page.emulate_media(color_scheme="light")
    words = page.evaluate(f"document.body.innerText.match(/\\b({ENGLISH})\\b/g)")
    assert words is None


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scene", [("ar", FORM, ARABIC)], indirect=True, ids=["ar"])
def test_an_arabic_study_from_consent_to_submit(scene: Scene, width: int) -> None:
    page = scene.page(viewport={"width": width, "height": 800})
    sent: list[int] = []
    page.on("requestfinished", lambda request: sent.append(request.sizes()["responseBodySize"]))
    page.goto(scene.invitation)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    check(page)
    page.get_by_role("checkbox").check()
    page.get_by_role("button", name="متابعة").click()
    expect(page.get_by_role("heading", name="صفحتك الرئيسية")).to_be_visible()
    check(page)
    page.get_by_role("link", name="ابدأ: Only {stage}").click()
    page.locator("#start").click()
    expect(page.locator("#panel-item")).to_have_attribute("aria-label", "السؤال 1")
    assert sum(sent) < BUDGET
    # The text begins at the right edge, and so do its options.
    first = page.get_by_role("option").first.bounding_box()
    last = page.get_by_role("option").nth(2).bounding_box()
    assert first is not None and last is not None and first["x"] > last["x"]
    page.locator("#submit").click(delay=600)
    expect(page.locator("#form-error")).to_have_text("لم تُرسل بعد: راجع 3 إجابات محددة أعلاه.")
    check(page)
    page.get_by_label("مهذبة").check()
    page.get_by_label("متى").check()
    page.get_by_role("option").nth(0).focus()
    page.keyboard.press("ArrowLeft")  # forwards, where lines run from right to left
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Space")
    expect(page.locator(".form-excerpt")).to_have_text("«في السابعة»")
    page.get_by_label("لماذا؟").fill("كلمة واحدة")
    expect(page.locator(".form-count")).to_contain_text("كلمتان، 3 على الأقل")
    page.get_by_label("لماذا؟").fill("لأن الوقت محدد")
    page.locator("#submit").click(delay=600)
    expect(page.locator("#panel-item")).to_have_attribute("aria-label", "السؤال 2")
    expect(page.locator("#saved")).to_have_text("حُفظت الإجابة 1")
    expect(page.locator("#answered")).to_have_text("إجابة واحدة")  # languages may spell numbers out
    [answer] = scene.answers()
    assert answer["words"] == [{"start": 1, "end": 3, "label": "متى"}]


@pytest.mark.parametrize("scene", [("de", "", None)], indirect=True, ids=["de"])
def test_german_money_is_written_as_in_german(scene: Scene) -> None:
    worker = scene.worker()
    page = worker.page
    page.goto("/")
    expect(page.locator(".stage-facts").first).to_contain_text("1,20\xa0$ pro Antwort")
    check(page)
    worker.open("only")
    page.get_by_label("one").check()
    page.locator("#submit").click(delay=600)
    expect(page.locator("#earned")).to_have_text("1,20\xa0$ verdient")
    expect(page.locator("#answered")).to_have_text("1 Antwort")


RATINGS = """
[[stage.options.fields]]
name = "ratings"
kind = "matrix"
ask = "どうですか？"
rows = ["正確さ", "明確さ"]
levels = 3
"""


@pytest.mark.parametrize("scene", [("ja", RATINGS, {"text": "文"})], indirect=True, ids=["ja"])
def test_lists_have_the_comma_of_the_language(scene: Scene) -> None:
    page = scene.worker().open("only").page
    page.locator("#submit").click(delay=600)
    expect(page.locator("[data-field=ratings] > .form-error")).to_have_text(
        "「正確さ」、「明確さ」の段階を選んでください。"
    )


CODE = """
[[stage.options.shows]]
item = "text"
look = "code"
[[stage.options.shows]]
item = "reply"
look = "markdown"
[[stage.options.fields]]
name = "tone"
kind = "choice"
ask = "؟"
options = ["نعم", "لا"]
"""
PROGRAM = {"text": "# 1\nif a:", "reply": "```\nif b:\n```"}


@pytest.mark.parametrize("scene", [("ar", CODE, PROGRAM)], indirect=True, ids=["ar"])
def test_code_runs_from_left_to_right(scene: Scene) -> None:
    page = scene.worker(viewport={"width": 360, "height": 800}).open("only").page
    sides = page.locator(".form-code, .form-markdown pre").evaluate_all(
        "boxes => boxes.map((box) => [getComputedStyle(box).direction, getComputedStyle(box).textAlign])"
    )
    assert sides == [["ltr", "left"]] * 2
    page.goto("/progress")
    expect(page.locator(".tile dd").nth(1)).to_have_text("0 ث")


NAMES = """
[[stage.options.fields]]
name = "names"
kind = "relations"
ask = "Wer ist wo?"
item = "text"
options = ["Person", "Firma", "Ort"]
relations = [{ value = "in", label = "ist in", from = ["Person", "Firma"], to = ["Ort"] }]
"""


@pytest.mark.parametrize("scene", [("de", NAMES, {"text": "Ada wohnt in Rom"})], indirect=True, ids=["de"])
def test_the_reason_against_a_relation_is_in_one_language(scene: Scene) -> None:
    page = scene.worker().open("only").page
    for label, word in (("Ort", 3), ("Person", 0)):
        page.get_by_role("radio", name=label).check()
        page.get_by_role("option").nth(word).click()
    connect = page.locator(".form-connect")
    connect.locator("[data-end=from]").select_option("Rom")
    connect.locator("[data-end=to]").select_option("Ada")
    connect.get_by_role("button").click()
    expect(page.locator(".form-refused")).to_contain_text("Person oder Firma")


@pytest.mark.parametrize("scene", [("zh", CHINESE, {"text": "请你七点来，带上别人。"})], indirect=True, ids=["zh"])
def test_chinese_is_marked_by_character(scene: Scene) -> None:
    page = scene.worker(viewport={"width": 390, "height": 800}).open("only").page
    expect(page.get_by_role("option")).to_have_count(11)
    page.get_by_label("متى").check()
    page.get_by_role("option").nth(2).hover()
    page.mouse.down()
    page.get_by_role("option").nth(3).hover()
    page.mouse.up()
    expect(page.locator(".form-excerpt")).to_have_text("“七点”")
    check(page)
    page.get_by_label("مهذبة").check()
    page.get_by_label("لماذا؟").fill("a b c")
    page.locator("#submit").click(delay=600)
    expect(page.locator("#panel-item")).to_have_attribute("aria-label", "第 2 题")
    assert scene.answers()[0]["words"] == [{"start": 2, "end": 4, "label": "متى"}]


def set_language(folder: Path, code: str) -> Path:
    file = folder / "study.toml"
    file.write_text(file.read_text("utf-8").replace("[study]\n", f'[study]\nlanguage = "{code}"\n', 1), "utf-8")
    return folder


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("de", "Nach „Who has“ muss das Verb „sold“, „been sold“ oder „been selling“ sein."),
        ("ar", "بعد “Who has” يجب أن يكون الفعل “sold” أو “been sold” أو “been selling”."),
        ("ja", "「Who has」の後の動詞は 「sold」、「been sold」、または「been selling」 でなければなりません。"),
    ],
)
def test_hints_about_an_english_question_are_in_the_language_of_the_study(
    chromium: Browser, tmp_path: Path, code: str, hint: str
) -> None:
    folder = set_language(write_qasrl_study(tmp_path / "study", apart=True), code)
    with Site(folder) as site:
        scene = Scene(chromium, site)
        page = scene.worker().open("writing").page
        field = page.get_by_role("combobox")
        field.fill("Who has selling something?")
        field.press("Escape")
        field.press("Enter")
        expect(page.locator(".qa-reason")).to_have_text(hint)
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []


LAYOUT = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form>
  <crowd-instructions><p>Lies.</p></crowd-instructions>
  <crowd-entity-annotation name="words" header="Namen" text="Ada ${verb} Grace" labels="['Person']">
  </crowd-entity-annotation>
  <crowd-question-answer-generation name="asked" text="Ada grüßt Grace" question-min-words="2"
    min-questions="1"></crowd-question-answer-generation>
</crowd-form>"""


def test_the_elements_of_a_layout_are_in_the_language_of_the_study(chromium: Browser, tmp_path: Path) -> None:
    (tmp_path / "layout.html").write_text(LAYOUT, "utf-8")
    (tmp_path / "batch.csv").write_text("verb\ngrüßt\nsieht\n", "utf-8")
    create_study_from_files(tmp_path / "study", "mturk", tmp_path / "layout.html", tmp_path / "batch.csv")
    with Site(set_language(tmp_path / "study", "de")) as site:
        scene = Scene(chromium, site)
        scene.watch.tolerate("assets.crowd.aws")
        worker = scene.worker()
        stage = site.query("SELECT name FROM stage")[0][0]
        page = worker.open(stage).page
        frame = page.frame_locator(".hit-frame")
        expect(frame.locator("html")).to_have_attribute("lang", "de")
        expect(frame.locator("summary")).to_have_text("Anleitung")
        expect(frame.get_by_role("group", name="Bezeichnungen")).to_be_visible()
        question = frame.get_by_label("Frage", exact=True)
        question.fill("Wer")
        assert question.evaluate("field => field.validationMessage") == "Schreiben Sie mindestens 2 Wörter."
        question.fill("Wer grüßt?")
        frame.get_by_label("Antwort", exact=True).fill("Ada")
        expect(frame.get_by_role("button", name="Frage hinzufügen")).to_be_visible()
        frame.get_by_role("button", name="Abschicken").click()
        expect(page.locator("#saved")).to_contain_text("1")
        assert len(scene.answers()) == 1
        for context in chromium.contexts:
            context.close()
        assert scene.watch.complaints == []
