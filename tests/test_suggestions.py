"""Models that suggest: who sees what, wrong suggestions on purpose, and what all of it does to people."""

import asyncio
import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from chorale.audit.verify import verify
from chorale.cli.program import app
from chorale.engine import work
from chorale.engine.entering import arrive, consent
from chorale.engine.models.running import annotate, chosen_models
from chorale.engine.offering import Offer
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import write_export
from chorale.folder.reading import check_folder
from chorale.store.arms import arms_by_worker
from chorale.store.model_schema import suggestion
from suggesting_study import SENTENCE, write_suggesting_study


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_suggesting_study(tmp_path / "study")
    opened = open_study(tmp_path / "study")
    asyncio.run(annotate(opened, tmp_path / "study", chosen_models(opened, None)))
    yield opened
    opened.close()


def person(study: Study, number: int) -> int:
    worker = study.store.do(partial(arrive, study=study, panel="prolific", external_id=f"p{number}", visit={}))
    study.store.do(partial(consent, study=study, worker_id=worker.id))
    return worker.id


def offered(study: Study, worker: int) -> Offer:
    return study.store.do(partial(work.next_item, study=study, stage=study.stage("main"), worker_id=worker))


def worked(study: Study, people: int, after: int = 0) -> dict[int, list[Offer]]:
    """People who keep what is suggested, and say "kind" otherwise."""
    seen: dict[int, list[Offer]] = {}
    for number in range(after, after + people):
        worker = person(study, number)
        while (offer := offered(study, worker)).lease is not None:
            again = offered(study, worker)
            assert again.suggestion == offer.suggestion, "the same when the page is loaded again"
            seen.setdefault(worker, []).append(offer)
            answer = dict(offer.suggestion or {"tone": "kind"})
            token = offer.lease.token
            sent: dict[str, Any] = {"token": token, "raw_answer": answer, "idempotency_key": token, "duration_ms": 900}
            study.store.do(partial(work.submit, study=study, worker_id=worker, **sent))
    return seen


def test_only_the_arm_sees_suggestions_and_some_at_gold_are_wrong(study: Study, tmp_path: Path) -> None:
    seen = worked(study, 8)
    arms = study.store.look(arms_by_worker)
    write_export(study, "suggestions", tmp_path / "suggestions.csv")
    with (tmp_path / "suggestions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == sum(map(len, seen.values()))
    shown = [row for row in rows if row["suggestion"]]
    assert {arms[row["worker"]] for row in shown} == {"helped"}
    assert {arms[row["worker"]] for row in rows if not row["suggestion"]} == {"plain"}
    wrong = [row for row in shown if row["wrong_on_purpose"] == "true"]
    assert wrong and all(row["kind"] == "gold" and row["suggestion_is_right"] == "false" for row in wrong)
    assert all(json.loads(row["suggestion"])["tone"] == "kind" for row in wrong if int(row["item"][1:]) % 2 == 0)
    assert all(row["follows"] == "true" for row in shown)
    assert study.store.look(lambda tx: verify(tx, study)).differences == []


def test_what_suggestions_do_is_measured_where_arms_may_be_told_apart(study: Study, tmp_path: Path) -> None:
    worked(study, 8)
    study.close()
    folder = str(tmp_path / "study")
    blind = json.loads(CliRunner().invoke(app, ["report", folder, "--json", "--no-charts"]).output)
    assert blind["models"]["suggestions"] == {}
    found = json.loads(CliRunner().invoke(app, ["report", folder, "--json", "--arms", "--no-charts"]).output)
    measured = {one["measure"]: one for one in found["models"]["suggestions"]["main"]}
    wrong = measured["gives the model's answer, where it is wrong by gold"]
    assert (wrong["with_suggestion"], wrong["without"]) == (1.0, 0.0)
    assert wrong["compared"]["difference"] == pytest.approx(1.0)
    assert measured["seconds per answer"]["with_suggestion"] == pytest.approx(0.9, abs=0.9)


def test_verify_finds_a_suggestion_that_was_changed(study: Study) -> None:
    worked(study, 4)
    changed = update(suggestion).values(answer='{"tone":"kind","why":"No."}')
    study.store.do(lambda tx: tx.execute(changed.where(~suggestion.c.wrong_on_purpose)))
    found = study.store.look(lambda tx: verify(tx, study)).differences
    assert any("not the model's answer" in one for one in found)


@pytest.mark.parametrize(
    ("before", "after", "wrong"),
    [
        (f'disclosure = "{SENTENCE}"', "", "is missing"),
        (f'disclosure = "{SENTENCE}"', 'disclosure = "Suggestions may be odd."', "is not in consent.md"),
        ('arms = ["helped"]', 'arms = ["other"]', "there is no such arm"),
    ],
)
def test_check_refuses_suggestions_that_nobody_agreed_to(tmp_path: Path, before: str, after: str, wrong: str) -> None:
    write_suggesting_study(tmp_path)
    assert check_folder(tmp_path)[1] == []
    text = (tmp_path / "study.toml").read_text()
    assert before in text
    (tmp_path / "study.toml").write_text(text.replace(before, after))
    _, problems = check_folder(tmp_path)
    assert any(wrong in problem.message for problem in problems)


def test_a_wrong_suggestion_has_the_models_own_words_so_that_it_does_not_show_gold(study: Study) -> None:
    shown = [dict(offer.suggestion) for offers in worked(study, 8).values() for offer in offers if offer.suggestion]
    assert {one["tone"] for one in shown} == {"rude", "kind"}, "some are wrong on purpose"
    assert {one.get("why") for one in shown} == {"It sounds so."}


def is_gold(offer: Offer) -> bool:
    return offer.lease is not None and offer.lease.item_key.startswith("g")


def test_suggestions_do_not_show_gold_while_the_model_is_at_work(tmp_path: Path, database: str | None) -> None:
    """Before, gold had suggestions first: while the model ran, everything with a suggestion was gold."""
    folder = tmp_path / "study"
    write_suggesting_study(folder, items=60, gold=60, wrong=0.5, arms=False)
    study = replace(open_study(folder, database), secrets=Random(5))
    asyncio.run(annotate(study, folder, chosen_models(study, None), limit=60))
    [early] = worked(study, 1).values()
    assert any(map(is_gold, early))
    assert not any(offer.suggestion for offer in early), "no item has one yet"
    asyncio.run(annotate(study, folder, chosen_models(study, None), limit=30))
    [offers] = worked(study, 1, after=1).values()
    shares = []
    for has_one in (True, False):
        alike = [is_gold(offer) for offer in offers if (offer.suggestion is not None) is has_one]
        assert len(alike) > 30
        shares.append(sum(alike) / len(alike))
    assert shares == pytest.approx([0.5, 0.5], abs=0.15)
    # An item that had a suggestion has one for everybody after that, and so has gold.
    [late] = worked(study, 1, after=2).values()
    with_one, without = (
        {offer.lease.item_key for offer in offers if offer.lease and (offer.suggestion is not None) is has_one}
        for offers, has_one in ((offers, True), (late, False))
    )
    assert not with_one & without
    assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()


def test_an_item_without_a_suggestion_stays_so_for_who_has_it(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_suggesting_study(folder, arms=False)
    study = open_study(folder)
    worker = person(study, 1)
    assert offered(study, worker).suggestion is None
    asyncio.run(annotate(study, folder, chosen_models(study, None)))
    assert offered(study, worker).suggestion is None, "gold and items alike"
    assert offered(study, person(study, 2)).suggestion is not None
    study.close()


def test_gold_that_is_added_later_gets_suggestions_like_everything_else(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_suggesting_study(folder, items=4, gold=6, arms=False)
    gold = (folder / "gold.jsonl").read_text()
    (folder / "gold.jsonl").write_text("".join(gold.splitlines(keepends=True)[:4]))
    for rows in (gold, None):
        study = open_study(folder)
        asyncio.run(annotate(study, folder, chosen_models(study, None)))
        if rows is not None:
            study.close()
            (folder / "gold.jsonl").write_text(rows)
    offers = [offer for seen in worked(study, 3).values() for offer in seen]
    study.close()
    assert {"g4", "g5"} <= {offer.lease.item_key for offer in offers if offer.lease is not None}
    assert all(offer.suggestion is not None for offer in offers)
