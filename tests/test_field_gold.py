"""Gold accuracy per field: counted for every worker, on the quality page, and in the report."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.metrics.resampling import Resampling
from chorale.monitor.field_gold import all_gold, gold_by_worker
from chorale.report import ReportOptions, study_report
from chorale.web.app import create_app
from comments_study import write_comments_study
from crowd import Person, look
from test_console import browser, runs, set_up

GOLD = [
    {
        "id": f"g{number}",
        "text": f"Go away, you clown {number}!",
        "answer": {"class": "rude", "severity": 3},
        "explanation": "It insults.",
    }
    for number in range(6)
]


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """Ada gets the class of all gold right and the severity never; Ben gets both right."""
    write_comments_study(tmp_path, count=8, gold="".join(json.dumps(row) + "\n" for row in GOLD))
    file = tmp_path / "study.toml"
    text = (
        file.read_text()
        .replace("share = 0.0", "share = 0.5\nfloor = 0\nafter = 6")
        .replace("judgments = 5", "judgments = 2")
    )
    file.write_text(text)
    opened = open_study(tmp_path)
    for name, severity in (("ada", 1), ("ben", 3)):
        person = Person(opened, name)
        while (offer := person.next("main")).lease is not None:
            answer = {"class": "rude", "severity": severity, "reason": f"{name} {offer.lease.item_key}"}
            person.submit(offer, answer, f"key-{name}-{offer.lease.token[:12]}")
    yield opened
    opened.close()


def counts(study: Study) -> dict[str, dict[str, Any]]:
    return look(study, lambda tx: gold_by_worker(tx, study.stage("main")))


def test_each_field_has_its_own_accuracy(study: Study, tmp_path: Path) -> None:
    by_worker = counts(study)
    assert len(by_worker) == 2
    for own in by_worker.values():
        (right, answered), (right_too, answered_too) = own["class"], own["severity"]
        assert right == answered == answered_too > 0 and right_too in (0, answered)
    whole = all_gold(by_worker)
    assert "spans" not in whole and "reason" not in whole, "gold leaves them out"
    found = study_report(study, tmp_path, tmp_path, ReportOptions(charts=False), Resampling(False))
    (section,) = [one.json for one in found.sections if one.name == "fields"]
    fields = {one["field"]: one for one in section["compared"]}
    assert fields["class"]["gold_accuracy"] == 1.0 and fields["spans"]["gold_accuracy"] is None
    right, answered = whole["severity"]
    assert fields["severity"]["gold_accuracy"] == pytest.approx(right / answered) and 0 < right < answered
    assert fields["severity"]["gold_answers"] == answered


@runs
async def test_the_quality_page_has_the_accuracy_of_the_field_it_shows(study: Study) -> None:
    by_worker = counts(study)
    async with browser(create_app(study)) as client:
        await set_up(client, study)
        for field in ("class", "severity"):
            page = (await client.get(f"/console/quality/main?field={field}")).text
            assert "Gold accuracy" in page
            for own in by_worker.values():
                right, answered = own[field]
                assert f"{right} of {answered}" in page
        assert "Gold accuracy" not in (await client.get("/console/quality/main?field=spans")).text
