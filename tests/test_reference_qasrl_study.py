"""Published QA-SRL data as items of a study, and our exports beside the published files."""

import csv
import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from chorale.contract import installed_tasks
from chorale.files.tables import write_csv, write_jsonl
from chorale.kits.qasrl.files import QuestionAnswers, read_bank, read_qasrl, read_sentences
from chorale.kits.qasrl.metrics import align, counts, statistics
from chorale.kits.qasrl.tasks.shared.answers import as_qas
from chorale.kits.qasrl.tasks.shared.published import Published, read_published
from chorale.kits.qasrl.tasks.shared.tables import (
    BANK_COLUMNS,
    CSV_COLUMNS,
    SENTENCE_COLUMNS,
    BankQuestion,
    VerbAnnotation,
    bank_rows,
    csv_rows,
)

DATA = Path(__file__).parents[2] / "shared" / "data"
GOLD = DATA / "qasrl-gs" / "wikinews.dev.gold.csv"
SENTENCES = DATA / "qasrl-gs" / "wikinews.dev.full.csv"
DENSE = DATA / "qasrl-bank" / "dense-dev.jsonl.gz"
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the reference data, which is not part of the project"),
    pytest.mark.slow,
]


def stored(published: Published) -> list[tuple[dict[str, Any], Any]]:
    """Every predicate with its answer as a study stores it: the task takes all of them."""
    task = installed_tasks()["qasrl-write"]
    found = []
    for row in published.gold:
        item = task.shape.parse_row({name: row[name] for name in row if name not in ("id", "answer", "explanation")})
        found.append((item, task.shape.parse_gold(row["answer"], item)))
    return found


def test_the_columns_are_those_of_the_published_files() -> None:
    for path, columns in ((GOLD, CSV_COLUMNS), (SENTENCES, SENTENCE_COLUMNS)):
        with path.open(encoding="utf-8-sig", newline="") as file:
            assert tuple(next(csv.reader(file))) == columns
    with gzip.open(DENSE, "rt", encoding="utf-8") as file:
        assert {tuple(json.loads(line)) for line in islice(file, 50)} == {BANK_COLUMNS}


def test_the_gold_standard_comes_back_as_it_was(tmp_path: Path) -> None:
    sentences = read_sentences(SENTENCES)
    published = read_published([GOLD], sentences)
    assert len(published.predicates) == 1264
    assert [note for note in published.notes if note.startswith("1 question is left out")]
    given = stored(published)
    again = tmp_path / "again.csv"
    write_csv(CSV_COLUMNS, csv_rows(VerbAnnotation(item, answer, "w", 1) for item, answer in given), again)
    found = counts(statistics(align(read_qasrl(again, sentences), read_qasrl(GOLD, sentences))))
    assert (found["ua"].fp, found["la"].fp) == (0, 0)
    assert found["ua"].fn <= 2
    assert found["la"].fn <= 2


def test_the_bank_comes_back_as_it_was(tmp_path: Path) -> None:
    bank = read_bank(DENSE)
    published = read_published([DENSE])
    given = stored(published)
    asked = [
        BankQuestion(item, one["question"], ("w",), (("w", tuple((start, end) for start, end in one["answers"])),))
        for item, answer in given
        for one in answer
    ]
    again = tmp_path / "again.jsonl"
    write_jsonl(bank_rows(asked, [item for item, _ in given]), again)
    ours = read_bank(again)
    for verb, judged in ours.questions.items():
        slots = {one.question.text: one.question for one in bank.questions[verb]}
        for one in judged:
            assert slots[one.question.text] == one.question
        assert ours.forms[verb] == bank.forms[verb]
    gold = bank.answers()
    back = QuestionAnswers.of({(item["sentence_id"], item["verb_index"]): as_qas(answer) for item, answer in given})
    assert counts(statistics(align(back, gold)))["la"].fn == 0


def test_the_dense_set_and_the_gold_standard_stand_side_by_side() -> None:
    published = read_published([DENSE, GOLD])
    task = installed_tasks()["qasrl-consolidate"]
    items = [task.shape.parse_row({name: row[name] for name in row if name != "id"}) for row in published.sets]
    assert len(items) == 1207
    assert {len(item["sets"]) for item in items} == {2}
    assert sum(bool(task.form.view(item)["groups"]) for item in items) == 1207
