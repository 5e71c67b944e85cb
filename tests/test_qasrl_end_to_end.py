"""QA-SRL as a new user runs it: from `chorale new` to the report, with a text nobody here wrote, on the real site."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import combinations
from pathlib import Path
from pydoc_data.topics import topics
from statistics import fmean
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browsing import CHROMIUM, Scene, Site
from chorale.kits.qasrl.grammar import Context, suggest
from chorale.kits.qasrl.grammar.completing import questions_alike
from chorale.text.inflections import VerbForms
from test_trial_end_to_end import Visitor, close, export, run, sign_in, until

pytest.importorskip("spacy", reason="needs the extra `text`")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
PEOPLE = 5
SENTENCES = 5
CHANGES = (("# by_url = true", "by_url = true"),)


def sentences() -> list[str]:
    """Plain sentences of the manual of Python's language."""
    text = re.sub(r"\s+", " ", " ".join(topics[name] for name in ("assert", "del", "return", "while")))
    plain = [one for one in re.findall(r"[A-Z][a-z ,]{40,110}\.", text) if not re.search(r"\b(?:See|Changed)\b", one)]
    return plain[:SENTENCES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("qasrl")
    (place / "text.txt").write_text("\n".join(sentences()) + "\n", "utf-8")
    run("new", place / "study", "--template", "qasrl")
    run("prepare", "qasrl", place / "text.txt", "--one-per-line", "--out", place / "study/predicates.jsonl", "--force")
    settings = (place / "study/study.toml").read_text("utf-8")
    for old, new in CHANGES:
        assert old in settings, old
        settings = settings.replace(old, new)
    (place / "study/study.toml").write_text(settings, "utf-8")
    run("check", place / "study")
    return place / "study"


class Annotator:
    """Knows what experts answered in training; later asks what the page suggests, more or less of it."""

    def __init__(self, folder: Path, number: int) -> None:
        self.number = number
        rows = [json.loads(line) for path in folder.glob("rounds/*.jsonl") for line in path.read_text().splitlines()]
        self.known = {(tuple(row["tokens"]), row["verb_index"]): row["answer"] for row in rows}

    def answer(self, view: Mapping[str, Any], stage: str) -> Any:
        if "sets" in view:
            return self.settled(view["sets"])
        known = self.known.get((tuple(view["tokens"]), view["verb_index"]))
        return self.written(view) if known is None else known

    def written(self, view: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Every question has a word of its own as its answer; every seventh time there is nothing to ask."""
        if (view["verb_index"] + self.number) % 7 == 0:
            return []
        forms = VerbForms.from_bank(view["forms"])
        suggested = suggest(forms, Context(tuple(view["tokens"]), view["verb_index"]))
        repeated = {number for _, number in questions_alike(suggested, forms)}  # the page and the server refuse them
        asked = [text for at, text in enumerate(suggested) if at not in repeated][: 2 + self.number % 3]
        shift = self.number % 2
        return [{"question": text, "answers": [[at + shift, at + shift + 1]]} for at, text in enumerate(asked)]

    def settled(self, sets: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """All of the longer set, and of the other what begins otherwise."""
        first, *others = sorted(sets, key=lambda one: (-len(one), json.dumps(one)))
        asked = {one["question"]: one for one in first}
        for one in (one for other in others for one in other):
            if self.number % 2:
                asked.setdefault(one["question"], one)
        return list(asked.values())


def write_in_the_browser(scene: Scene, site: Site, annotator: Annotator) -> None:
    worker = scene.worker(site.panel_link(f"{annotator.number:024x}")).open("writing")
    page = worker.page
    page.get_by_role("combobox").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.locator("[data-token='0']").click()
    page.get_by_role("button", name="Done with this question").click()
    expect(page.locator(".qa-entry")).to_have_count(1)
    page.locator("#submit").click()
    worker.at_question(2)
    page.context.close()


@pytest.fixture(scope="module")
def done(folder: Path, chromium: Browser) -> Iterator[Path]:
    with Site(folder) as site, ExitStack() as visits:
        scene = Scene(chromium, site)
        owner = scene.page()
        sign_in(owner, site)
        people = [Annotator(folder, number) for number in range(1, PEOPLE + 1)]
        everybody = [Visitor(site, person, site.panel_link(f"{person.number:024x}")) for person in people]
        for visitor in everybody:
            visits.callback(visitor.client.close)

        def all_work(stage: str) -> int:
            return sum(visitor.work(stage) for visitor in everybody)

        assert all_work("screening") == PEOPLE * 5
        close(owner, "invited")
        assert all_work("round-1") == all_work("round-2") == PEOPLE * 15
        close(owner, "trained")
        write_in_the_browser(scene, site, people[0])
        assert all_work("writing") > 0
        until(lambda: all_work("consolidation") > 0, owner)
        until(lambda: not all_work("consolidation"), owner)
        assert scene.watch.complaints == []
        for context in chromium.contexts:
            context.close()
    yield folder


Rows = list[dict[str, str]]


def by_verb(rows: Rows) -> dict[tuple[str, str], dict[str, Rows]]:
    """By verb and worker, the rows that have a question."""
    found: dict[tuple[str, str], dict[str, Rows]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        of_worker = found[row["qasrl_id"], row["verb_idx"]][row["worker_id"]]
        of_worker += [row] if row["question"] else []
    return found


def spans(rows: Rows) -> set[str]:
    return {span for row in rows for span in row["answer_range"].split("~!~")}


def test_the_report_has_the_numbers_of_the_data(done: Path, tmp_path: Path) -> None:
    assert json.loads(run("verify", done, "--json"))["ok"]
    report = json.loads(run("report", done, "--json", "--out", tmp_path / "report.html"))
    written = by_verb(export(done, "qasrl-annotators-writing", tmp_path / "written.csv"))
    gold = by_verb(export(done, "qasrl-csv", tmp_path / "gold.csv"))
    ledger = export(done, "ledger", tmp_path / "ledger.csv")
    numbers = report["qasrl"]
    # What came of the verbs.
    assert written.keys() == gold.keys() and len(gold) > SENTENCES / 2
    for stage, listed in (("writing", written), ("consolidation", gold)):
        [shown] = [one for one in numbers["yields"] if one["stage"] == stage]
        annotations = [rows for workers in listed.values() for rows in workers.values()]
        questions = [row for rows in annotations for row in rows]
        assert (shown["verbs"], shown["annotations"]) == (len(listed), len(annotations))
        assert shown["roles_per_verb"] == pytest.approx(len(questions) / len(annotations))
        assert shown["answers_per_role"] == pytest.approx(1.0)
        assert shown["nothing_to_ask"] == sum(not rows for rows in annotations)
    # How far writers agree. All answers are single words: two are the same, or share nothing.
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for workers in written.values():
        for one, other in combinations(sorted(workers), 2):
            ours, theirs = spans(workers[one]), spans(workers[other])
            pairs[one, other].append((len(ours & theirs), len(ours) + len(theirs)))
    totals = [(sum(same for same, _ in counts), sum(both for _, both in counts)) for counts in pairs.values()]
    [agreed] = [one for one in numbers["agreements"] if one["stage"] == "writing"]
    assert agreed["pairs"] == len(pairs)
    assert agreed["ua_f1"] == pytest.approx(fmean(2 * same / both if both else 1.0 for same, both in totals))
    # How much of their work was kept.
    kept = defaultdict(list)
    for verb, workers in written.items():
        result = spans([row for rows in gold[verb].values() for row in rows])
        for worker, rows in workers.items():
            ours = spans(rows)
            kept[worker].append(len(ours & result) / len(ours) if ours and result else float(not ours and not result))
    writers = json.loads(run("status", done, "--json"))["qasrl"]["writers"]
    assert {one["writer"]: one["answers_kept"] for one in writers} == pytest.approx(
        {worker: fmean(shares) for worker, shares in kept.items()}
    )
    # Money.
    spent = sum(int(row["amount"]) for row in ledger)
    training = sum(int(row["amount"]) for row in ledger if row["stage"] in ("screening", "round-1", "round-2"))
    assert report["costs"]["spent"] == spent
    assert numbers["cost_per_predicate"] == pytest.approx(spent / len(gold))
    assert numbers["cost_without_training"] == pytest.approx((spent - training) / len(gold))
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "writers" not in numbers and [one["writer"] for one in writers if one["writer"] in page] == []
