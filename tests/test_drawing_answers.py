"""Where only some of everybody's answers are graded: when they are drawn, how, and that it can be verified."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.engine.advancing import advance
from chorale.engine.clock import Clock
from chorale.engine.control import set_stage_state
from chorale.engine.drawing_answers import drawn_answers, not_drawn_from
from chorale.engine.gates import close_gate, survey
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.folder.plan import plan_study
from chorale.folder.reading import load_folder
from chorale.model import StageState, UserError
from chorale.store import Tx, arms, events, participations, responses
from chorale.store.items import all_items
from crowd import Person, do, look
from test_console_gates import as_owner
from writing_study import write_writing_study

DRAWN = 2
LIMIT = 3


def write(folder: Path, *, graded: int = DRAWN, items: str = f"per_worker = {DRAWN}") -> None:
    """People write about four texts, three of them at most, and two of everybody's answers are graded."""
    write_writing_study(folder)
    settings = folder / "study.toml"
    changed = settings.read_text().replace('of = "answers" }', f'of = "answers", {items} }}')
    changed = changed.replace("graded = 4", f"graded = {graded}").replace("finished = 500\n", "")
    changed = changed.replace("judgments = 60", f"judgments = 60\nmax_per_worker = {LIMIT}")
    settings.write_text(changed.replace("grades = true\njudgments = 3", "grades = true\njudgments = 1"))


@pytest.fixture
def study(tmp_path: Path, database: str | None, clock: Clock) -> Iterator[Study]:
    write(tmp_path / "study")
    opened = open_study(tmp_path / "study", database, clock)
    yield opened
    opened.close()


class Writer(Person):
    def __init__(self, study: Study, name: str) -> None:
        super().__init__(study, name)
        self.arm = look(study, arms.arms_by_worker)[self.pseudonym]

    def write(self, times: int) -> None:
        for number in range(times):
            question = f"What did {self.pseudonym} see on day {number}?"
            self.judge({"question": question, "kind": "what", "length": "one"}, f"{self.arm}-practice")

    @property
    def written(self) -> list[int]:
        stage = f"{self.arm}-practice"
        rows = look(
            self.study,
            lambda tx: list(responses.all_responses(tx, stage_name=stage, pseudonym=self.pseudonym)),
        )
        return [row.id for row in rows]

    @property
    def to_grade(self) -> list[int]:
        """Their answers that wait for a grader, or have one."""
        items = look(self.study, lambda tx: list(all_items(tx, f"{self.arm}-grades")))
        made = {int(item.key.rpartition("/")[2]) for item in items if item.state != "withdrawn"}
        return sorted(made.intersection(self.written))


def pause(study: Study, writer: Writer) -> None:
    do(study, set_stage_state, study.stage(f"{writer.arm}-practice"), StageState.PAUSED, "the test")


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def test_who_has_written_all_they_may_is_drawn_from_at_once_and_others_when_the_stage_is_paused(study: Study) -> None:
    full, part = Writer(study, "full"), Writer(study, "part")
    full.write(LIMIT)
    part.write(1)
    assert do(study, advance) == [f"answers of 1 people in {full.arm}-practice sampled for {full.arm}-grades"]
    assert len(full.to_grade) == DRAWN
    assert full.to_grade == drawn_answers(5, f"{full.arm}-grades", DRAWN, full.written)
    assert part.to_grade == []
    assert look(study, lambda tx: not_drawn_from(tx, study)) == {f"{part.arm}-practice": 1}

    pause(study, part)
    do(study, advance)
    assert part.to_grade == part.written, "one answer is all there is"
    assert do(study, advance) == [], "nobody is drawn from twice"
    assert look(study, lambda tx: not_drawn_from(tx, study)) == {}
    [event] = [
        one for one in look(study, lambda tx: events.recent(tx, 99, kinds=("drawn",))) if one.worker == full.pseudonym
    ]
    assert event.evidence == {"from": f"{full.arm}-practice", "of": full.written, "answers": full.to_grade}
    assert differences(study) == []


def test_whoever_still_holds_a_text_of_a_paused_stage_is_waited_for(study: Study) -> None:
    writer = Writer(study, "writer")
    writer.write(1)
    offer = writer.next(f"{writer.arm}-practice")
    pause(study, writer)
    assert do(study, advance) == []
    writer.submit(offer, {"question": "What else happened?", "kind": "what", "length": "one"})
    do(study, advance)
    assert writer.to_grade == writer.written
    assert len(writer.written) == 2


def test_a_gate_goes_by_the_answers_that_were_drawn_and_nothing_is_drawn_after_it(study: Study) -> None:
    writer, late = Writer(study, "writer"), Writer(study, "b")
    while late.arm != writer.arm:
        late = Writer(study, late.pseudonym)
    grader = Person(study, "grader")
    writer.write(LIMIT)
    do(study, advance)
    gate = study.gates[f"{writer.arm}-trained"]
    assert look(study, lambda tx: survey(tx, study, gate)).waiting == 1
    for _ in range(DRAWN):
        grader.judge({"clear": 5, "hard": 3}, f"{writer.arm}-grades")
    assert grader.next(f"{writer.arm}-grades").lease is None
    late.write(LIMIT)
    verdicts = do(study, close_gate, gate, "the test")
    assert [verdict.worker for verdict in verdicts] == [writer.pseudonym]
    assert do(study, advance) == []
    assert differences(study) == []


def test_answers_of_somebody_who_is_dropped_are_withdrawn_and_no_others_take_their_place(study: Study) -> None:
    writer = Writer(study, "writer")
    writer.write(LIMIT)
    do(study, advance)
    stage = study.stage(f"{writer.arm}-practice")
    study.store.write(lambda tx: participations.drop(tx, stage.id, writer.id)).result()
    settle_everything(study)
    do(study, advance)
    assert writer.to_grade == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            "UPDATE event SET evidence = json_set(evidence, '$.of[0]', 9) WHERE kind = 'drawn'",
            "sampled from a list that differs",
        ),
        ("DELETE FROM event WHERE kind = 'drawn'", "exists, but does not follow"),
        ("DELETE FROM item_source; DELETE FROM item WHERE response_id IS NOT NULL", ", but does not exist"),
        (
            "INSERT INTO event (at, kind, stage_id, worker_id, evidence) "
            "SELECT at, kind, stage_id, worker_id, evidence FROM event WHERE kind = 'drawn'",
            "2 times",
        ),
    ],
)
def test_verifying_finds_a_draw_that_was_changed(tmp_path: Path, clock: Clock, statement: str, told: str) -> None:
    write(tmp_path / "study")
    study = open_study(tmp_path / "study", None, clock)
    writer = Writer(study, "writer")
    writer.write(LIMIT)
    do(study, advance)
    assert differences(study) == []

    def tamper(tx: Tx) -> None:
        for name in tx.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).scalars().all():
            tx.execute(text(f"DROP TRIGGER {name}"))
        for one in statement.split("; "):
            assert tx.execute(text(one)).rowcount > 0

    study.store.write(tamper).result()
    assert any(told in one for one in differences(study)), differences(study)
    study.close()


def test_a_gate_that_asks_for_more_than_is_drawn_is_refused_and_a_plan_counts_what_is(tmp_path: Path) -> None:
    write(tmp_path / "study", graded=3)
    with pytest.raises(UserError, match="fewer answers per worker are graded than the gate requires"):
        load_folder(tmp_path / "study")
    write(tmp_path / "other", items="per_worker = 2, sample = 0.5")
    with pytest.raises(UserError, match='`per_worker` needs `of = "answers"`, and no `sample`'):
        load_folder(tmp_path / "other")
    write(tmp_path / "right")
    planned = {stage.name: stage.items for stage in plan_study(load_folder(tmp_path / "right")).stages}
    # Four texts for sixty people each, three at most for each of them: eighty people.
    assert planned["careful-grades"] == 80 * DRAWN


def test_the_console_says_what_a_gate_waits_for(tmp_path: Path, clock: Clock) -> None:
    write(tmp_path / "study")
    study = open_study(tmp_path / "study", None, clock)
    try:
        writer = Writer(study, "writer")
        writer.write(1)
        owner = as_owner(study)
        told = f"1 person in {writer.arm}-practice has no answers sampled for grading yet."
        assert told in owner.get("/console/gates").text
        pause(study, writer)
        do(study, advance)
        assert "sampled for grading" not in owner.get("/console/gates").text
    finally:
        study.close()
