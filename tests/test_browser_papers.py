"""Frame study and rules study from `new` to the report: foreign texts, people in browsers, numbers recomputed."""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from math import ceil
from pathlib import Path
from pydoc_data.topics import topics
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from playwright.sync_api import Browser, Page, expect

import framenet_files
from browsing import CHROMIUM, Scene, Site
from chorale.cli import app
from framenet_files import write_framenet
from paper_scores import crowdtruth_scores, judged_applications, label_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`"),
]
# Python's own documentation: it is wherever Python is, and nobody wrote it for this.
TEXT = " ".join(" ".join(topics.values()).split())
FRAMES = {
    "Answering": "Somebody gives back what was asked for.",
    "Coming_back": "Somebody comes again to where they were.",
    "Naming": "Somebody gives something a name.",
    "Ordering": "Somebody has something done.",
    "Shouting": "Somebody speaks loudly.",
}
UNITS = {"return.v": ["Answering", "Coming_back"], "call.v": ["Naming", "Ordering", "Shouting"]}


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def join(scene: Scene, name: str, stage: str) -> Page:
    """Somebody, at the work page in a browser of their own."""
    page = scene.worker(scene.site.invitation(name)).page
    page.goto(f"/stages/{stage}")
    expect(page.locator("#start, #panel-item, #rest-title").filter(visible=True).first).to_be_visible()
    if page.locator("#start").is_visible():
        page.locator("#start").click()
    return page


def join_as_expert(scene: Scene, name: str) -> Page:
    page = scene.page()
    page.goto(scene.site.expert_link(name))
    expect(page.locator("body.shortcuts")).to_be_visible()
    page.keyboard.press("w")
    return page


def work(page: Page, answer: Callable[[Page], None]) -> None:
    """Answer until nothing is left for them."""
    over = (
        page.locator("#rest-title").or_(page.get_by_role("link", name="Back to the review queue")).filter(visible=True)
    )
    number = 1
    while True:
        here = page.locator(f"#panel-item[aria-label='Question {number}']").filter(visible=True)
        expect(here.or_(over).first).to_be_visible()
        if over.count():
            break
        answer(page)
        page.locator("#submit").click()
        number += 1
    page.context.close()


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def responses(study: Path, out: Path) -> list[dict[str, Any]]:
    run("export", study, "--format", "jsonl", "--out", out)
    return rows(out)


def words_shown(row: dict[str, Any]) -> int:
    """How many words a page shows of a sentence with its candidates."""
    texts = [row["sentence"], row["word"]]
    for one in row["candidates"]:
        texts += [
            one["frame"],
            one["definition"],
            one.get("example", ""),
            *(each[0] for each in one.get("more_examples", [])),
        ]
    return sum(len(text.split()) for text in texts)


def edit(study: Path, *changes: tuple[str, str]) -> None:
    """Change the study file as its author would."""
    text = (study / "study.toml").read_text("utf-8")
    for pattern, instead in changes:
        text, times = re.subn(pattern, instead, text, flags=re.MULTILINE)
        assert times, pattern
    (study / "study.toml").write_text(text, "utf-8")


def test_the_frame_study_from_new_to_the_report(
    tmp_path: Path, chromium: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("spacy")
    monkeypatch.setattr(framenet_files, "DEFINITIONS", FRAMES)
    monkeypatch.setattr(framenet_files, "UNITS", UNITS)
    monkeypatch.setattr(framenet_files, "LINKS", [])
    write_framenet(tmp_path / "fn")
    sentences = re.findall(r"(?<=\. )[A-Z][a-z][^.?!`*\"|()\[\]<>]{20,160}\.", TEXT)
    sentences = [each for each in sentences if re.search(r"\b(calls?|called|returns?|returned)\b", each)]
    (tmp_path / "text.txt").write_text("\n\n".join(dict.fromkeys(sentences)), "utf-8")
    study = tmp_path / "study"
    run("new", study, "--template", "frames")
    items = ("--framenet", tmp_path / "fn", "--reach", "units", "-n", 5, "--out", study / "sentences.jsonl", "--force")
    run("prepare", "frames", tmp_path / "text.txt", *items)
    edit(study, (r"^judgments = 15.*$", "judgments = 4"), (r"^\[stage.rehearsal\](.|\n)*", ""))
    run("check", study)

    def choose(name: str) -> Callable[[Page], None]:
        def answer(page: Page) -> None:
            rng = Random(f"{name}:{page.locator('[data-sentence]').inner_text()}")
            boxes = page.locator("#task-root input[name=answer]")
            frames = sorted(box.get_attribute("value") or "" for box in boxes.all())
            wanted = {frames[0]} if rng.random() < 0.6 else set(rng.sample(frames, rng.choice((1, 2)))) - {"none"}
            for frame in wanted or {"none"}:
                page.locator(f"#task-root input[value={frame}]").check()

        return answer

    with Site(study) as site:
        scene = Scene(chromium, site)
        for number in range(4):
            work(join(scene, f"person-{number}", "meanings"), choose(f"person-{number}"))
        assert scene.watch.complaints == []
    given = responses(study, tmp_path / "responses.jsonl")
    assert len(given) == 5 * 4
    votes: defaultdict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    for row in given:
        votes[row["item"]][row["worker"]] = frozenset(row["answer"])
    ours = crowdtruth_scores(votes)
    for name, key, column, expected in (
        ("frames-sqs", "sent_id", "sqs", ours.sqs),
        ("frames-wqs", "worker", "wqs", ours.wqs),
        ("frames-fqs", "frame", "aqs", ours.fqs),
    ):
        run("export", study, "--format", name, "--out", tmp_path / f"{name}.csv")
        with (tmp_path / f"{name}.csv").open(newline="") as file:
            exported = {row[key]: float(row[column]) for row in csv.DictReader(file)}
        for each, value in expected.items():
            assert exported[each] == pytest.approx(value, abs=1e-6), (name, each)
    run("export", study, "--format", "frames-fss", "--out", tmp_path / "fss.csv")
    with (tmp_path / "fss.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            fss = ours.fss.get((row["sent_id"], row["frame"]), 0.0)
            assert float(row["fss_sent_centric"]) == pytest.approx(fss, abs=1e-6), row
    report = json.loads(run("report", study, "--json", "--no-charts", "--resamples", 100))
    shares = {
        sentence: Counter(frame for chosen in people.values() for frame in chosen - {"none"})
        for sentence, people in votes.items()
    }
    several = Counter(
        min(2, sum(count > len(votes[s]) / 2 for count in counts.values())) for s, counts in shares.items()
    )
    found = report["frames"]["meanings"]
    assert found["sentences"] == len(votes)
    assert found["majorities"] == {"several": several[2], "one": several[1], "none": several[0]}
    bins = [0] * 20
    for value in ours.sqs.values():
        bins[min(19, int(value * 20))] += 1
    assert [sum(column) for column in zip(*found["sqs"].values(), strict=True)] == bins
    pays = {row["id"]: 9 + min(60, ceil(words_shown(row) * 8 / 100)) for row in rows(study / "sentences.jsonl")}
    assert report["costs"]["spent"] == sum(pays[row["item"]] for row in given)
    assert report["funnel"]["worked"] == 4
    assert report["verification"]["differences"] == []


def test_the_rules_study_from_new_to_the_report(tmp_path: Path, chromium: Browser) -> None:
    noun = "object|method|function|class|module|statement"
    verb = "defines|returns|takes|creates|has|raises"
    triples = dict.fromkeys(re.findall(rf"\b([A-Za-z]+ (?:{noun})) ({verb}) ((?:a|an|the) [a-z]+)", TEXT))
    assert len(triples) > 5
    (tmp_path / "extractions.tsv").write_text("".join("\t".join(each) + "\n" for each in triples), "utf-8")
    verbs = sorted({predicate for _, predicate, _ in triples})
    rules = [(one, other) for one in verbs for other in ("describes", "needs", "gives back") if one != other]
    (tmp_path / "rules.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in rules), "utf-8")
    study = tmp_path / "study"
    run("new", study, "--template", "rules")
    sampled = ("--sample", 3, "--per-extraction", 2, "--out", study / "applications.jsonl", "--force")
    run("prepare", "rules", tmp_path / "extractions.tsv", tmp_path / "rules.tsv", *sampled)
    edit(study, (r"^\[stage.rehearsal\].*\n.*\n", ""), (r"^share = 0.1.*$", "share = 0"))
    text = (study / "study.toml").read_text("utf-8")
    before, check = text.split("# [[stage]]\n")
    check = re.sub("^# ?", "", check, flags=re.MULTILINE).replace("sample = 0.25", "sample = 1")
    (study / "study.toml").write_text(f"{before}[[stage]]\n{check.split('[stage.rehearsal]')[0]}", "utf-8")
    run("check", study)
    rows = [json.loads(line) for line in (study / "applications.jsonl").read_text().splitlines()]
    phrases = {row[side] for row in rows for side in ("lhs", "rhs")}

    def judge(name: str) -> Callable[[Page], None]:
        def answer(page: Page) -> None:
            shown = page.locator("#task-root [data-text]").all_inner_texts()
            # Most agree: a phrase about taking means nothing, and one in four pairs does not follow.
            usual = (
                "no" if any("needs an" in each for each in shown) or Random("/".join(shown)).random() < 0.25 else "yes"
            )
            odd = Random(f"{name}:{'/'.join(shown)}").random() < 0.1
            page.locator(f"#task-root input[value={'no' if (usual == 'yes') == odd else 'yes'}]").check()

        return answer

    with Site(study) as site:
        scene = Scene(chromium, site)
        # Phrases of an extraction and its two rules are a group, of which everybody judges one.
        for stage, people in (("meaningful", 9), ("entailment", 3)):
            for number in range(people):
                work(join(scene, f"person-{number}", stage), judge(f"person-{number}"))
        work(join_as_expert(scene, "ada"), judge("ada"))
        assert scene.watch.complaints == []
    given = responses(study, tmp_path / "responses.jsonl")
    seen: defaultdict[str, set[str]] = defaultdict(set)
    on_phrases: defaultdict[str, list[str]] = defaultdict(list)
    on_pairs: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    by_expert: dict[tuple[str, str], str] = {}
    for row in given:
        payload = row["payload"]
        if row["stage"] == "meaningful":
            on_phrases[payload["phrase"]].append(row["answer"])
            seen[row["worker"]].add(payload["phrase"])
        elif row["stage"] == "entailment":
            on_pairs[payload["lhs"], payload["rhs"]].append(row["answer"])
        else:
            by_expert[payload["lhs"], payload["rhs"]] = row["answer"]
    assert {phrase: len(answers) for phrase, answers in on_phrases.items()} == dict.fromkeys(phrases, 3)
    assert not [1 for row in rows for shown in seen.values() if {row["lhs"], row["rhs"]} <= shown]
    expected = judged_applications(rows, on_phrases, on_pairs)
    report = json.loads(run("report", study, "--json", "--no-charts", "--resamples", 100))
    counts = Counter(value for value in expected.values() if value is not None)
    assert counts, "some applications are judged"
    assert report["rules"]["judged"] == dict(counts)
    run("export", study, "--format", "zeichner", "--out", tmp_path / "applications.tsv")
    with (tmp_path / "applications.tsv").open(newline="") as file:
        exported = {(row["lhs"], row["rhs"]): row["judgment"] for row in csv.DictReader(file, delimiter="\t")}
    assert exported == {(row["lhs"], row["rhs"]): expected[row["id"]] for row in rows if expected[row["id"]]}
    both = [(label_of(on_pairs[pair])[0], answer) for pair, answer in by_expert.items()]
    checked = report["rules"]["checks"]["check"]["all"]
    assert checked["items"] == len(both) == len(on_pairs)
    assert checked["agreement"] == pytest.approx(sum(crowd == expert for crowd, expert in both) / len(both))
    paid = sum(4 if row["stage"] == "meaningful" else 5 for row in given if row["stage"] != "check")
    assert report["costs"]["spent"] == paid
    assert report["verification"]["differences"] == []
