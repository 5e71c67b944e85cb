"""Answers that make no sense raise alarms with evidence; answers that are too fast can be refused on the page."""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli.program import app
from chorale.engine.managing import Act, end_work
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.reading import check_folder
from chorale.model import Refusal
from chorale.monitor.alarm import Alarm
from chorale.monitor.overview import overview
from chorale.monitor.sense import senseless_answers
from chorale.protocol.sense import straight_lines
from chorale.text.near_duplicates import contains_copy
from chorale.web.app import create_app
from comments_study import CLASSES, PEOPLE, SEVERITY, Comment, answer, comments, write_comments_study
from conftest import ManualClock
from crowd import Person, do, look
from test_console import browser, set_up
from test_form import field_toml, write_form_study

COUNT = 25
SENSE = {"too-fast", "straight-line", "copied", "same-text"}
Answering = Callable[[Comment, Random, str], dict[str, Any]]


def answered(
    folder: Path,
    clock: ManualClock,
    odd: Answering,
    others: Answering = answer,
    *,
    place: int = 4,
    seconds: float = 20,
    extra: str = "",
) -> Study:
    """Four careful people, and one in this place who answers as `odd` says, taking this many seconds."""
    write_comments_study(folder, count=COUNT, extra=extra)
    study = open_study(folder, clock=clock)
    by_text = {one.text: one for one in comments(COUNT)}
    for number in range(5):
        person, rng = Person(study, f"person-{number}"), Random(number)
        made, each = (odd, seconds) if number == place else (others, 20)
        while (offer := person.next("main")).lease is not None:
            comment = by_text[(offer.view or {})["text"]]
            clock.now += int(each * 1000)
            person.submit(offer, made(comment, rng, person.pseudonym), f"key-{number:04d}-{comment.key}", None)
    return study


def alarms_of(study: Study) -> dict[str, Alarm]:
    found = look(study, lambda tx: list(senseless_answers(tx, study)))
    study.close()
    return {alarm.kind: alarm for alarm in found}


def who(study: Study, place: int = 4) -> str:
    """The name of the one who answers otherwise."""
    return Person(study, f"person-{place}").pseudonym


def test_careful_people_raise_no_alarm(tmp_path: Path, clock: ManualClock) -> None:
    study = answered(tmp_path, clock, answer, extra="sense = { min_seconds = 5 }")
    assert not {alarm.kind for alarm in look(study, lambda tx: overview(tx, study)).alarms} & SENSE
    assert alarms_of(study) == {}


def test_fast_answers_are_reported_with_how_fast_they_were(tmp_path: Path, clock: ManualClock) -> None:
    study = answered(tmp_path, clock, answer, seconds=1.6, extra="sense = { min_seconds = 5 }")
    name = who(study)
    (alarm,) = alarms_of(study).values()
    assert alarm.kind == "too-fast" and alarm.workers == (name,) and alarm.serious
    assert (
        f"{name} gave 25 of 25 answers this fast, the fastest in 1.6 seconds" in alarm.title and len(alarm.items) == 25
    )


def test_one_second_is_no_plural(tmp_path: Path, clock: ManualClock) -> None:
    study = answered(tmp_path, clock, answer, seconds=0.6, extra="sense = { min_seconds = 1 }")
    (alarm,) = alarms_of(study).values()
    assert "1 worker answers in less than 1 second in “" in alarm.title


def lazy(comment: Comment, rng: Random, name: str) -> dict[str, Any]:
    return answer(comment, rng, name) | {"class": "fine", "spans": [], "severity": 1}


def test_the_same_answer_to_everything_is_reported(tmp_path: Path, clock: ManualClock) -> None:
    study = answered(tmp_path, clock, lazy)
    name = who(study)
    status = CliRunner().invoke(app, ["status", str(tmp_path)])
    (alarm,) = alarms_of(study).values()
    assert (alarm.kind, alarm.workers) == ("straight-line", (name,))
    assert f"the longest run is 25 items, by {name}" in alarm.title
    evidence = f"({name}; items {', '.join(key for _, key in alarm.items[:5])} and 20 more)"
    assert evidence in " ".join(status.output.split()) and len(alarm.items) == 25


def test_the_first_to_answer_is_compared_with_others_who_all_differ(tmp_path: Path, clock: ManualClock) -> None:
    def varied(comment: Comment, rng: Random, name: str) -> dict[str, Any]:
        return answer(comment, rng, name) | {"class": rng.choice(CLASSES), "severity": rng.randint(1, SEVERITY)}

    study = answered(tmp_path, clock, lazy, varied, place=0)
    name = who(study, 0)
    (alarm,) = alarms_of(study).values()
    assert (alarm.kind, alarm.workers) == ("straight-line", (name,))


def test_two_other_answers_are_enough_to_see_a_straight_line() -> None:
    """Before, one of two others with the same answer hid it, although most of the others' answers differ."""
    items = [f"i{number}" for number in range(10)]
    line = {"a": [(item, "x") for item in items], "b": [(item, "y") for item in items]}
    line["c"] = [(item, "x" if number < 6 else "z") for number, item in enumerate(items)]
    assert [(found.worker, found.others) for found in straight_lines(line, 8)] == [("a", 0.7), ("b", 1.0)]
    assert straight_lines({"a": line["a"]}, 8) == [], "nobody else has answered"


def test_copied_and_repeated_texts_are_reported(tmp_path: Path, clock: ManualClock) -> None:
    def copier(comment: Comment, rng: Random, name: str) -> dict[str, Any]:
        return answer(comment, rng, name) | {"reason": comment.text.upper()}

    def parrot(comment: Comment, rng: Random, name: str) -> dict[str, Any]:
        ends = rng.choice(("", "!", " .", "!!"))
        return answer(comment, rng, name) | {"reason": f"It is rude to people{ends}"}

    study = answered(tmp_path / "copied", clock, copier)
    name = who(study)
    found = alarms_of(study)
    assert found["copied"].workers == (name,) and f"{name} did so 25 times" in found["copied"].title
    study = answered(tmp_path / "again", clock, parrot)
    name = who(study)
    found = alarms_of(study)
    assert set(found) == {"same-text"}
    assert f"{name} wrote “It is rude to people" in found["same-text"].title and "25 times" in found["same-text"].title


@pytest.mark.parametrize(
    ("text", "copied"),
    [
        ("you are a clown about the garden and the house", True),
        ("Well, you are a clown about the garden and the house", True),
        ("you are a clown about the garden and the hou", True),
        ("you are a clown about the garden", True),
        ("He writes: you are a clown about the garden. That is an insult to someone", False),
        ("clown about the garden", False),
        ("about the garden a clown are you and the house", False),
        ("", False),
    ],
)
def test_a_word_more_or_less_does_not_hide_a_copy(text: str, copied: bool) -> None:
    """Before, one word added to a copied sentence hid the copy."""
    assert contains_copy(text, "Honestly, you are a clown about the garden and the house!", 5) is copied


def test_alarms_end_when_the_worker_is_removed(tmp_path: Path, clock: ManualClock) -> None:
    """Before, the alarm went on asking to remove somebody who was removed."""
    study = answered(tmp_path, clock, lazy)
    do(study, end_work, who(study), study.stage("main"), Act("owner", "the same answer to everything", "removed"))
    assert alarms_of(study) == {}


@pytest.mark.parametrize(
    ("shown", "row", "copy", "own"),
    [
        ("text", "你真是个大傻瓜，快走开吧。", "真是个大傻瓜，快走开吧", "傻瓜"),
        ("dialogue", [{"speaker": "A", "text": "Where is it?"}, {"speaker": "B", "text": "Go and look for it."}],
         "go and look for it", "it is rude to say"),
        ("quote", ["Go", "and", "look", "for", "it", "."], "Go and look for it", "it is rude to say"),
    ],
)  # fmt: skip
def test_texts_of_every_kind_can_be_copied(tmp_path: Path, shown: str, row: Any, copy: str, own: str) -> None:
    """Before, a text without spaces was one word, and dialogues and lists of tokens were not looked at."""
    fields = field_toml(name="why", kind="text", ask="Why?")
    if shown == "quote":
        fields += field_toml(name="words", kind="spans", ask="Which?", item="text", min=0)
    rows = "".join(json.dumps({"id": f"i{number}", "text": row}) + "\n" for number in range(2))
    shows = f'[[stage.options.shows]]\nitem = "text"\nlook = "{shown}"\n'
    write_form_study(tmp_path, shows + fields, rows=rows, extra="judgments = 2")
    with closing(open_study(tmp_path)) as study:
        for name, text in (("ada", copy), ("ben", own)):
            person, given = Person(study, name), {"why": text, **({"words": []} if shown == "quote" else {})}
            for number in range(2):
                person.submit(person.next("only"), given, f"key-{name}-{number:04d}")
        found = look(study, lambda tx: list(senseless_answers(tx, study)))
        assert [alarm.workers for alarm in found if alarm.kind == "copied"] == [(Person(study, "ada").pseudonym,)]


def test_an_answer_that_is_too_fast_is_refused_and_can_be_sent_again(tmp_path: Path, clock: ManualClock) -> None:
    write_comments_study(tmp_path, count=3, extra="sense = { min_seconds = 4, refuse = true }")
    study = open_study(tmp_path, clock=clock)
    person = Person(study, "person-0")
    offer = person.next("main")
    by_text = {one.text: one for one in comments(3)}
    given = answer(by_text[(offer.view or {})["text"]], Random(1), "x")
    clock.now += 1500
    with pytest.raises(Refusal, match="This question takes at least 4 seconds to read and answer") as refused:
        person.submit(offer, given, "key-00000001", 9000)
    assert (refused.value.code, refused.value.status) == ("invalid_answer", 422)
    clock.now += 3000
    assert person.submit(offer, given, "key-00000002", 1500).status == "accepted"
    study.close()


@pytest.mark.parametrize(("least", "shown"), [(1, "1 second"), (1.5, "2 seconds")])
def test_a_minimum_is_shown_in_whole_seconds(tmp_path: Path, clock: ManualClock, least: float, shown: str) -> None:
    write_comments_study(tmp_path, count=3, extra=f"sense = {{ min_seconds = {least}, refuse = true }}")
    study = open_study(tmp_path, clock=clock)
    person = Person(study, "person-0")
    offer = person.next("main")
    with pytest.raises(Refusal, match=f"at least {shown} to read"):
        person.submit(offer, answer(comments(1)[0], Random(1), "x"), "key-00000001", 5)
    study.close()


def test_a_refusal_needs_a_minimum(tmp_path: Path) -> None:
    write_comments_study(tmp_path, count=3, extra="sense = { refuse = true }")
    assert "`refuse` needs `min_seconds`" in str(check_folder(tmp_path)[1][0])


async def _overview_page(study: Study) -> str:
    async with browser(create_app(study)) as client:
        await set_up(client, study)
        return (await client.get("/console")).text


def test_pages_and_the_terminal_say_how_many_more_people_an_alarm_is_about(tmp_path: Path, clock: ManualClock) -> None:
    """Before, five were named without a word about the others."""
    write_comments_study(tmp_path, count=3, extra="sense = { min_seconds = 5 }")
    settings = tmp_path / "study.toml"
    settings.write_text(settings.read_text().replace(f"judgments = {PEOPLE}", "judgments = 7"))
    with closing(open_study(tmp_path, clock=clock)) as study:
        for number in range(7):
            person = Person(study, f"person-{number}")
            for place, comment in enumerate(comments(3)):
                offer = person.next("main")
                clock.now += 1000
                person.submit(offer, answer(comment, Random(number), "they"), f"key-{number:04d}-{place}", None)
        (alarm,) = [one for one in look(study, lambda tx: overview(tx, study)).alarms if one.kind == "too-fast"]
        assert len(alarm.workers) == 7 and "7 workers answer in less than" in alarm.title
        page = asyncio.run(_overview_page(study))
    shown = page.partition('id="alarms"')[2].partition("</section>")[0].partition("7 workers answer in less than")[2]
    assert f">{alarm.workers[4]}</a>" in shown and f">{alarm.workers[5]}</a>" not in shown
    assert '<span class="nowrap">and 2 more</span>' in shown
    told = " ".join(CliRunner().invoke(app, ["status", str(tmp_path)]).output.split())
    assert f"{alarm.workers[4]} and 2 more; items " in told
