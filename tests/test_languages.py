"""Worker pages in other languages: catalogues that are complete, plural forms, money, and pages that follow them."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from functools import cache
from gettext import c2py
from pathlib import Path
from typing import Any

import pytest
from babel import Locale
from babel.messages import Catalog
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.folder.plan import study_notes
from chorale.folder.reading import check_folder, load_folder
from chorale.kits.forms.task.tokens import pieces
from chorale.model import Refusal
from chorale.model.wording import counted, joined, quoted, worded
from chorale.present.language import Language, said_in, translated_html
from chorale.present.languages import CATALOGUES, language_of, languages
from chorale.present.translated import Translated, read_catalogue
from chorale.registry import installed
from chorale.testing.languages import problems_of, sentences_in, update, write_catalogues
from chorale.web.app import create_app
from chorale.web.links import invitation_path, study_sessions
from test_form import field_toml, write_form_study
from test_media import client_of

PACKAGE = Path(__file__).parent.parent / "src" / "chorale"
KITS = PACKAGE / "kits"
OWN = [
    kit.catalogues for kit in installed().kits.values() if kit.catalogues is not None and KITS in kit.catalogues.parents
]
OTHERS = [code for code in languages() if code != "en"]


def write_study(folder: Path, language: str, options: str = "", row: dict[str, Any] | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.md").write_text("Read.\n")
    rows = [{"id": f"i{number}", **(row or {"text": "نص قصير", "number": number})} for number in range(3)]
    (folder / "items.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    (folder / "study.toml").write_text(
        f"""\
study = {{ title = "A <form>", contact = "team@example.org", consent = "text.md", language = "{language}" }}

[[stage]]
name = "only"
title = "Only {{stage}}"
task = "form"
guidelines = "text.md"
items = {{ file = "items.jsonl" }}
judgments = 50
pay = {{ per_judgment = 120, expected_seconds = 120 }}
"""
        + (
            options
            or """
[[stage.options.shows]]
item = "text"

[[stage.options.fields]]
name = "tone"
kind = "choice"
ask = "How?"
options = ["one", "two"]

[[stage.options.fields]]
name = "why"
kind = "text"
ask = "Why?"
required = false
"""
        )
    )
    return folder


@pytest.fixture
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[TestClient]:
    study = open_study(write_study(tmp_path / "study", request.param))
    with TestClient(create_app(study)) as client:
        client.get(invitation_path(study_sessions(study), "somebody"))
        yield client
    study.close()


# Catalogues


@pytest.mark.parametrize("code", OTHERS)
def test_every_catalogue_has_every_sentence_with_its_placeholders_and_plural_forms(code: str) -> None:
    found = problems_of(read_catalogue(CATALOGUES / f"{code}.po"), own_sentences())
    for place in OWN:
        found += problems_of(read_catalogue(place / f"{code}.po"), kit_sentences(place.parent))
    assert found == []


def test_catalogues_that_are_up_to_date_stay_as_they_are(tmp_path: Path) -> None:
    for place in (CATALOGUES, *OWN):
        copy = tmp_path / place.parent.name
        shutil.copytree(place, copy)
        write_catalogues(own_sentences() if place == CATALOGUES else kit_sentences(place.parent), copy)
        for path in sorted(place.glob("*.po")):
            assert (copy / path.name).read_text("utf-8") == path.read_text("utf-8"), f"{path}: run `make languages`"


@cache
def own_sentences() -> Catalog:
    """Extracted once for all languages."""
    return sentences_in(PACKAGE, without=[KITS])


@cache
def kit_sentences(kit: Path) -> Catalog:
    return sentences_in(kit)


def test_french_punctuation_stays_on_the_line_of_its_word() -> None:
    forms = [form for place in (CATALOGUES, *OWN) for form in translations(place / "fr.po")]
    assert [form for form in forms if re.search(r"[^\u00a0][:;?!»]|«[^\u00a0]|\w'\w", form)] == []


def translations(path: Path) -> Iterator[str]:
    for message in (each for each in read_catalogue(path) if each.id):
        yield from (message.string,) if isinstance(message.string, str) else message.string or ()


@pytest.mark.parametrize("code", OTHERS)
def test_plural_forms_are_those_of_unicode(code: str) -> None:
    locale = Locale.parse(code)
    for folder in (CATALOGUES, *OWN):
        form = c2py(str(read_catalogue(folder / f"{code}.po").plural_expr))
        seen: dict[int, str] = {}
        for number in range(1000):
            assert seen.setdefault(form(number), locale.plural_form(number)) == locale.plural_form(number)
        assert len(set(seen.values())) == len(seen)


def test_a_catalogue_that_lacks_something_is_told_what(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<p data-say>Yes</p>{{ say("Hello {name}", name=1) }}')
    (tmp_path / "page.js").write_text(
        'import { sayCount } from "./say.js"; sayCount(n, "{count} word", "{count} words");'
    )
    [path] = update(tmp_path, ["de"])
    sources = sentences_in(tmp_path)
    assert problems_of(read_catalogue(path), sources) == [
        "not translated: Hello {name}",
        "not translated: Yes",
        "not translated: {count} word",
    ]
    text = path.read_text("utf-8")
    text = text.replace('msgid "Hello {name}"\nmsgstr ""', 'msgid "Hello {name}"\nmsgstr "Hallo {nam}"')
    text = text.replace('msgid "Yes"\nmsgstr ""', 'msgid "Yes"\nmsgstr "Ja"')
    path.write_text(text.replace('msgstr[0] ""\nmsgstr[1] ""', 'msgstr[0] "{count} Wort"\nmsgstr[1] "{count} Wörter"'))
    assert problems_of(read_catalogue(path), sources) == [
        "has the placeholders ['{nam}'] and needs ['{name}']: Hello {name}"
    ]
    # What is gone from the sources goes from the catalogue, and translations stay.
    (tmp_path / "page.html").write_text("<p data-say>Yes</p>")
    update(tmp_path)
    assert [message.string for message in read_catalogue(path) if message.id] == [
        "Ja",
        ("{count} Wort", "{count} Wörter"),
    ]


def test_a_sentence_without_translation_stays_english(tmp_path: Path) -> None:
    (tmp_path / "de.po").write_text('msgid ""\nmsgstr "Language: de\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"\n')
    german = Translated("de", [tmp_path])
    assert german.say("Continue") == "Continue"
    assert german.say_count(2, "{count} word", "{count} words") == "2 words"


def test_a_language_without_a_catalogue_is_an_error_that_names_those_there_are(tmp_path: Path) -> None:
    _, problems = check_folder(write_study(tmp_path / "study", "xx"))
    assert [str(problem) for problem in problems] == [
        "study.toml:1: `study.language` is not a language of worker pages (found 'xx'). Use one of "
        "ar, de, en, es, fr, he, hi, ja, pt, zh."
    ]


# Sentences


ENGLISH = (
    "You read the texts of this study, and you choose the answer that is best for each of them. Your answers are kept."
)
GERMAN = (
    "Sie lesen die Texte dieser Studie und wählen die Antwort, die am besten passt. Ihre Antworten werden gespeichert, "
    "und Sie werden für jede davon bezahlt."
)


@pytest.mark.parametrize(
    ("language", "text", "warned"),
    [("de", ENGLISH, True), ("ar", ENGLISH, True), ("de", GERMAN, False), ("en", ENGLISH, False)],
)
def test_check_warns_of_english_texts_on_pages_in_another_language(
    tmp_path: Path, language: str, text: str, warned: bool
) -> None:
    folder = write_study(tmp_path / "study", language)
    (folder / "text.md").write_text(text)
    notes = [note for note in study_notes(load_folder(folder)) if "in English" in note]
    expected = f"the worker pages are in `{language}`, but text.md is in English. Translate the texts that workers read"
    assert notes == ([expected] if warned else [])


def test_numbers_money_dates_and_plurals_follow_the_language() -> None:
    german, arabic, english = language_of("de"), language_of("ar"), Language()
    assert [each.money(120, "USD") for each in (english, german)] == ["$1.20", "1,20\xa0$"]
    assert german.money(500, "JPY") == "500\xa0¥"
    assert (german.number(1234.5), german.day(date(2027, 1, 5))) == ("1.234,5", "5. Januar 2027")
    minutes = {n: arabic.say_count(n, "{count} minute", "{count} minutes") for n in (1, 2, 3, 11, 100)}
    assert minutes == {1: "دقيقة واحدة", 2: "دقيقتان", 3: "3 دقائق", 11: "11 دقيقة", 100: "100 دقيقة"}
    assert (german.direction, arabic.direction) == ("ltr", "rtl")


def test_a_sentence_is_english_text_and_translates_with_what_is_in_it() -> None:
    inner = quoted("{x} <b>")
    text = joined(worded("Locked for now. Finish {parts} first.", parts=inner), "", "Plain.")
    assert text == "Locked for now. Finish “{x} <b>” first. Plain."
    assert language_of("de").translated(text) == "Vorerst gesperrt. Schließen Sie zuerst „{x} <b>“ ab. Plain."
    assert str(Refusal("code", text)) == text
    assert json.dumps(text) == json.dumps(str(text))
    assert counted(1, "{count} answer", "{count} answers") == "1 answer"


def test_html_is_translated_where_it_is_marked_and_nowhere_else() -> None:
    html = '<p data-say>Yes</p><p>Yes</p><i class="x" data-say="title" title="No">Yes</i><p>&lt;b data-say&gt;Yes</p>'
    say = {"Yes": 'J<a>"', "No": "Nein"}.__getitem__
    assert translated_html(html, say) == (
        '<p>J&lt;a&gt;&quot;</p><p>Yes</p><i class="x" title="Nein">Yes</i><p>&lt;b data-say&gt;Yes</p>'
    )
    assert said_in(html) == ["Yes", "No"]


# Pages


@pytest.mark.parametrize("page", sorted(KITS.rglob("*.html")), ids=lambda page: page.relative_to(KITS).as_posix())
def test_every_marked_attribute_of_a_template_is_collected(page: Path) -> None:
    """Before, an attribute directly after a tag of Jinja was left out of the catalogues, and stayed English."""
    for marked in re.findall(r'<[^<>]* data-say="[^<>]*>', page.read_text("utf-8")):
        assert said_in(marked), marked


@pytest.mark.parametrize("client", ["ar"], indirect=True)
def test_pages_refusals_and_scripts_are_in_the_language_of_the_study(client: TestClient) -> None:
    consent = client.get("/").text
    assert '<html lang="ar" dir="rtl">' in consent
    assert "أوافق على المشاركة" in consent
    refused = client.post("/consent", data={})
    assert (refused.status_code, "ضع علامة في المربع" in refused.text) == (422, True)
    client.post("/consent", data={"agree": "yes"})
    home = client.get("/").text
    assert "US$" in home
    assert "دقيقتان" in home
    assert "A &lt;form&gt;" in home
    assert not re.search(r">\s*(Continue|Start|Overview|Sign out|Guidelines)\s*<", home)
    work = client.get("/stages/only").text
    assert "(اختياري)" in work
    assert "data-say" not in work
    [address] = re.findall(r'src="(/static/sentences\.js\?v=\w+)"', work)
    script = client.get(address)
    assert "immutable" in script.headers["cache-control"]
    assert '"Choose an answer first.": "اختر إجابة أولًا."' in script.text
    assert '"{count} word": ["' in script.text
    missing = client.post("/api/assignments/none/submit", json={"key": "key-number-1", "answer": {}})
    assert missing.json()["error"]["message"] == "هذا السؤال غير متاح لك. تابع مع السؤال التالي."
    assert "الصفحة غير موجودة" in client.get("/nowhere").text


@pytest.mark.parametrize("client", ["en"], indirect=True)
def test_english_pages_load_no_sentences(client: TestClient) -> None:
    page = client.get("/").text
    assert '<html lang="en">' in page
    assert "sentences.js" not in page


@pytest.mark.parametrize("client", ["de"], indirect=True)
def test_the_console_stays_english(client: TestClient) -> None:
    assert '<html lang="en">' in client.get("/login").text


def test_characters_of_scripts_without_spaces_are_tokens() -> None:
    for text, tokens in (
        ("你真是个大傻瓜，走开。", list("你真是个大傻瓜，走开。")),
        ("我用Python写3次", ["我", "用", "Python", "写", "3", "次"]),
        ("ง่าย ok", ["ง่", "า", "ย", "ok"]),
        ("Straße, l’été!", ["Straße", ",", "l’été", "!"]),
    ):
        cut = pieces(text)
        assert (cut[::2], "".join(cut)) == (tokens, text)


def test_feedback_in_practice_is_in_the_language_of_the_study(tmp_path: Path) -> None:
    options = (
        field_toml(name="extremes", kind="best_worst", ask="Welche?", item="four")
        + field_toml(name="word", kind="text", ask="Wort?", gold="one_of")
        + field_toml(name="code", kind="text", ask="Code?", gold="regex")
    )
    four = [{"id": name, "text": f"Text {name}"} for name in "abcd"]
    right = {"extremes": {"best": "a", "worst": "b"}, "word": ["ja", "doch"], "code": "[0-9]+"}
    row = json.dumps({"id": "i1", "four": four, "answer": right, "explanation": "So."})
    write_form_study(tmp_path, options, rows=f"{row}\n")
    study = tmp_path / "study.toml"
    text = study.read_text().replace("items = {", "round = {").replace('.jsonl" }', '.jsonl", feedback = "at once" }')
    text = text.replace('title = "A form"', 'title = "A form", language = "de"')
    study.write_text(f'{text}\n[[gate]]\nname = "passed"\nstage = "only"\nthreshold = 0.5\n')
    with closing(open_study(tmp_path)) as opened:
        client = client_of(opened, tmp_path, "ada")
        item = client.post("/api/stages/only/next").json()["assignment"]
        sent = {"key": "key-00000001", "answer": {"extremes": {"best": "b", "worst": "c"}, "word": "x", "code": "y"}}
        feedback = client.post(f"/api/assignments/{item['id']}/submit", json=sent).json()["feedback"]
    extremes, word, code = feedback["details"]["wrong"]
    assert extremes["own"] == "Am besten: „Text b“; Am schlechtesten: „Text c“"
    assert (word["right"], code["right"]) == ("„ja“ oder „doch“", "eine Antwort, die zu [0-9]+ passt")
