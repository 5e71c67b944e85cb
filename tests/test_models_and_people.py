"""Quality against cost, and the list of items in which models and people differ most."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli.program import app
from chorale.engine import work
from chorale.engine.entering import arrive, consent
from chorale.engine.models.running import annotate, chosen_models
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.monitor.differing import differing_items
from chorale.monitor.models import model_records
from chorale.monitor.quality_cost import annotators, quality_cost_chart
from suggesting_study import write_suggesting_study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The model says "rude" of everything; people say "kind" of even messages. Gold is as the files have it."""
    write_suggesting_study(tmp_path, arms=False, wrong=0)
    text = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(text.replace('role = "suggest"', 'role = "beside"'))
    study = open_study(tmp_path)
    asyncio.run(annotate(study, tmp_path, chosen_models(study, None)))
    for number in range(4):
        _work(study, number)
    study.close()
    return tmp_path


def _work(study: Study, number: int) -> None:
    worker = study.store.do(partial(arrive, study=study, panel="prolific", external_id=f"p{number}", visit={}))
    study.store.do(partial(consent, study=study, worker_id=worker.id))
    stage = study.stage("main")
    while True:
        offer = study.store.do(partial(work.next_item, study=study, stage=stage, worker_id=worker.id))
        if offer.lease is None:
            return
        key, token = offer.lease.item_key, offer.lease.token
        kind = (int(key[1:]) % 2 == 0) == key.startswith("i")
        sent: dict[str, Any] = {"token": token, "idempotency_key": token, "duration_ms": 1000}
        answer = {"tone": "kind" if kind else "rude"}
        study.store.do(partial(work.submit, study=study, worker_id=worker.id, raw_answer=answer, **sent))


def test_quality_stands_beside_cost(folder: Path, tmp_path: Path) -> None:
    study = open_study(folder)
    people, model = study.store.look(lambda tx: annotators(tx, study, model_records(tx, study)))
    assert (people.name, people.accuracy, model.name) == ("people", 1.0, "m1")
    assert model.accuracy is not None and model.accuracy < 0.8
    assert people.labels == 32 and model.labels == 8
    assert people.cost_a_label is not None and people.cost_a_label >= 5 * 10**9
    chart = quality_cost_chart([people, model], "USD")
    assert chart is not None and "m1" in chart
    study.close()
    out = tmp_path / "plot.svg"
    args = ["models", str(folder), "--label", "tone", "--min-items", "2", "--plot", str(out), "--json"]
    printed = CliRunner().invoke(app, args)
    assert printed.exit_code == 0, printed.output
    assert [one["name"] for one in json.loads(printed.output)["quality_cost"]] == ["people", "m1"]
    assert out.read_text().startswith("<?xml") or "<svg" in out.read_text()


def test_items_where_they_differ_come_first(folder: Path) -> None:
    study = open_study(folder)
    found = study.store.look(lambda tx: differing_items(tx, study.stage("main"), 100))
    assert {one.key for one in found} == {"i0", "i2", "i4", "i6"}
    assert all(one.among_people == 0 and one.distance > 0 for one in found)
    assert len(study.store.look(lambda tx: differing_items(tx, study.stage("main"), 2))) == 2
    study.close()
