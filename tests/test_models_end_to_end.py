"""Word associations end to end: people's judgments, six models behind a stand-in, and the authors' table."""

import asyncio
import csv
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import select

from chorale.audit.verify import verify
from chorale.cli.program import app
from chorale.engine.entering import arrive, consent
from chorale.engine.models.running import annotate, chosen_models
from chorale.engine.offering import new_token
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.submitting import submit
from chorale.model import AssignmentKind
from chorale.store import Tx, assignments, participations
from chorale.store.offering import ItemContent
from chorale.store.schema import item
from model_stand_in import model_stand_in

SHARED = Path(__file__).parents[2] / "shared"

Row = dict[str, str]


def write_association_study(folder: Path, items: list[Row], labels: list[str], models: list[str], address: str) -> None:
    folder.mkdir()
    (folder / "consent.md").write_text("You agree to take part.\n")
    (folder / "guidelines.md").write_text("Say how the association and the cue are related.\n")
    with (folder / "items.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "cue", "association", "why"])
        writer.writeheader()
        writer.writerows(items)
    tables = "".join(
        f'\n[[model]]\nname = "{name}"\nendpoint = "{address}"\ninput_price = 15\noutput_price = 60\n'
        for name in models
    )
    (folder / "study.toml").write_text(f"""\
[study]
title = "Word associations"
contact = "team@example.org"
consent = "consent.md"

[[stage]]
name = "relation"
title = "How are they related?"
task = "form"
guidelines = "guidelines.md"
items = {{ file = "items.csv" }}
judgments = 8

[stage.options]
shows = [{{ item = "cue", label = "Cue" }}, {{ item = "association", label = "Association" }}, {{ item = "why" }}]
fields = [{{ name = "relation", kind = "choice", ask = "How are they related?", options = {json.dumps(labels)} }}]
{tables}""")


def bring_in_judgments(study: Study, judgments: list[Row]) -> None:
    """What people judged elsewhere, each by the way of every answer."""
    stage = study.stage("relation")

    def judge(tx: Tx) -> None:
        query = select(item.c.id, item.c.key, item.c.group_key, item.c.payload).where(item.c.stage_id == stage.id)
        items = {row[1]: ItemContent(row[0], row[1], row[2], row[3], -1) for row in tx.execute(query)}
        workers: dict[str, int] = {}
        for row in judgments:
            name = f"person-{row['worker']}"
            if name not in workers:
                worker = arrive(tx, study, "elsewhere", name, {})
                consent(tx, study, worker.id)
                participations.enter(tx, stage.id, worker.id, 1, study.clock())
                workers[name] = worker.id
            token = new_token(study)
            given = workers[name], items[row["task"]], AssignmentKind.PRODUCTION, study.clock(), study.clock() + 60_000
            assignments.lease(tx, token, stage.id, *given)
            submit(tx, study, workers[name], token, {"relation": row["label"]}, token, 1)

    study.store.do(judge)


def recorded(judgments: list[Row]) -> Any:
    """What the stand-in says: the label that the model asked for gave to the association in the prompt."""
    said: dict[str, dict[tuple[str, str, str], str]] = defaultdict(dict)

    def answer(text: str, body: dict[str, Any]) -> Any:
        shown = json.loads(re.sub(r"(?s)^# Item\s+", "", text))
        return {"answer": {"relation": said[body["model"]][shown["cue"], shown["association"], shown["why"]]}}

    return answer, said


def run_study(tmp_path: Path, items: list[Row], people: list[Row], of_models: list[Row]) -> dict[str, Any]:
    labels = sorted({row["label"] for row in (*people, *of_models)})
    models = sorted({row["worker"] for row in of_models})
    answer, said = recorded(of_models)
    by_id = {one["id"]: one for one in items}
    for row in of_models:
        one = by_id[row["task"]]
        said[row["worker"]][one["cue"], one["association"], one["why"]] = row["label"]
    folder = tmp_path / "study"
    with model_stand_in(answer=answer, keep_requests=False) as world:
        write_association_study(folder, items, labels, models, world.address)
        study = open_study(folder)
        bring_in_judgments(study, people)
        runs = asyncio.run(annotate(study, folder, chosen_models(study, None)))
        assert world.served == len(items) * len(models)
    assert [run.counts.answered for run in runs] == [len(items)] * len(models)
    assert study.store.look(lambda tx: verify(tx, study)).differences == []
    study.close()
    shown = CliRunner().invoke(app, ["models", str(folder), "--json", "--epsilon", "0.1"])
    assert shown.exit_code == 0, shown.output
    result: dict[str, Any] = json.loads(shown.stdout)
    return result


def test_a_small_study_of_associations(tmp_path: Path) -> None:
    cues = [("sea", "boat"), ("sun", "warm"), ("tree", "leaf"), ("dog", "bark")] * 9
    items = [{"id": f"i{n}", "cue": cue, "association": said, "why": f"case {n}"} for n, (cue, said) in enumerate(cues)]
    people = [
        {"task": one["id"], "worker": f"p{who}", "label": "part" if (n + who) % 7 else "other"}
        for n, one in enumerate(items)
        for who in range(3)
    ]
    of_models = [
        {"task": one["id"], "worker": name, "label": "part" if name == "good" else "other"}
        for one in items
        for name in ("good", "bad")
    ]
    result = run_study(tmp_path, items, people, of_models)
    assert result["models"]["good"]["winning_rate"] == 1.0
    assert result["models"]["bad"]["winning_rate"] == 0.0
    assert {run["model"]: run["answered"] for run in result["runs"]} == {"good": 36, "bad": 36}
    assert all(run["cost"] > 0 and run["versions"] == [f"{run['model']}-2026-10-01"] for run in result["runs"])


@pytest.mark.skipif(not (SHARED / "data/alttest").is_dir(), reason="the authors' data are not part of the project")
@pytest.mark.slow
def test_the_authors_table_comes_out_of_a_study(tmp_path: Path) -> None:
    with (SHARED / "data/alttest/wax-items.csv").open() as file:
        items = [{**row, "why": row["explanation"]} for row in csv.DictReader(file)]
    items = [{name: row[name] for name in ("id", "cue", "association", "why")} for row in items]
    with (SHARED / "data/alttest/wax-judgments.csv").open() as file:
        rows = list(csv.DictReader(file))
    people = [row for row in rows if row["kind"] == "human"]
    result = run_study(tmp_path, items, people, [row for row in rows if row["kind"] == "model"])
    expected = json.loads((SHARED / "reference/alttest.json").read_text())["wax"]["models"]
    found = {
        name: {key: round(one[key] + 1e-9, 2) for key in ("winning_rate", "advantage_probability")}
        for name, one in result["models"].items()
    }
    assert found == expected
