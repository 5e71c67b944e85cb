"""`verify` finds whatever was changed behind the engine's back in what protocols leave behind."""

from collections.abc import Iterator
from random import Random

import pytest

from chorale.audit.verify import verify
from chorale.engine.gates import close_gate
from chorale.engine.running import Study
from chorale.store import gates
from crowd import do, look, tamper
from protocol_world import World
from random_study import Drawn, write_study
from test_protocol_properties import _empty

DRAWN = Drawn(
    arms='[arms]\nnames = ["left", "right"]\nstratify = "panel"\n',
    first="top_share = 0.6\nbonus = 7\n",
    promotes=True,
    second="threshold = 0.1\nbonus = 7\n",
    grades_by="grader",
    judgments=1,
    items=3,
    more="items = 1",
    finished=11,
)


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Here gold comes where the study's own secrets say."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A study in which everything has happened that can be changed afterwards, and time went on meanwhile."""
    folder = tmp_path_factory.mktemp("study")
    write_study(folder, DRAWN)
    world = World(folder, _empty().copy(), tick=1)
    for number in range(8):
        world.come(number * 2 + 1)
    for one in world.people[:6]:
        world.finish_round(one, one.id)
    do(world.study, close_gate, world.study.gates["trained"], "the test")
    chance = Random(3)
    for _ in range(150):
        world.clock.now += 1000
        world.work_on(chance.choice(world.people), chance.randrange(1, 105))
    world.advance()
    world.check()
    return world


@pytest.fixture
def study(whole: World) -> Iterator[Study]:
    before = whole.study
    copied = whole._opened(before.store.copy())  # type: ignore[attr-defined]
    yield copied
    copied.close()


def test_as_it_is_there_is_nothing_to_find(study: Study) -> None:
    assert look(study, lambda tx: verify(tx, study)).differences == []


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("UPDATE verdict SET score = score - 0.01 WHERE gate = 'trained'", "recomputed from the grades"),
        ("UPDATE verdict SET passed = NOT passed WHERE gate = 'trained'", "passed="),
        (
            "UPDATE verdict SET evidence = replace(evidence, '\"rank\": 1', '\"rank\": 4') WHERE gate = 'trained'",
            "rank 4 in the evidence",
        ),
        (
            "UPDATE verdict SET evidence = replace(evidence, '\"promoted\": true', '\"promoted\": false')",
            "promoted=False stored",
        ),
        ("DELETE FROM verdict WHERE gate = 'trained' AND passed", "a decision that does not exist"),
        ("DELETE FROM verdict WHERE gate = 'writer'", "scored, but without a decision"),
        (
            "UPDATE grade SET score = 1 - score WHERE source = 'gold' AND response_id IN "
            "(SELECT id FROM response WHERE kind = 'qualification')",
            "recomputed from the grades",
        ),
        ("UPDATE grade SET score = score / 2 + 0.1 WHERE source <> 'gold'", "the graders' answers give"),
        ("UPDATE grade SET criteria = '{\"quality\": 0.1}' WHERE source <> 'gold'", "criteria or reasons that differ"),
        ("UPDATE grade SET source = 'write-a#1' WHERE source <> 'gold'", "may not grade"),
        (
            "INSERT INTO grade (response_id, source, score, reasons, graded_at) "
            "SELECT id, 'gold', 1, '[]', submitted_at FROM response WHERE kind = 'production' LIMIT 1",
            "graded against gold, but its item was not gold",
        ),
        (
            'UPDATE response SET answer = \'{"quality":"fair"}\' WHERE answer <> \'{"quality":"fair"}\' AND stage_id = '
            "(SELECT id FROM stage WHERE name = 'grading')",
            "the graders' answers give",
        ),
        ("DELETE FROM event WHERE kind = 'graded'", "no event that names its graders"),
        ("DELETE FROM event WHERE kind = 'passed'", "differs from the logged one"),
        ("DELETE FROM event WHERE kind = 'gate closed'", "closed without an event"),
        ("UPDATE gate SET closed_at = closed_at + 1", "differs from the time at which the gate was closed"),
        (
            "INSERT INTO qualification SELECT worker_id, 'grader', at FROM verdict WHERE NOT passed LIMIT 1",
            "nothing granted it",
        ),
        ("DELETE FROM qualification WHERE name = 'trained'", "should have the qualification trained"),
        ("UPDATE qualification SET granted_at = granted_at + 1", "its date differs from the decision's"),
        ("DELETE FROM message", "is missing"),
        (
            "INSERT INTO message (worker_id, cause, written_at, title, body, state) "
            "SELECT max(id), 'gate:trained', 0, 't', 'b', 'sent' FROM worker",
            "made no decision about them",
        ),
        ("UPDATE worker SET arm = CASE arm WHEN 'left' THEN 'right' ELSE 'left' END", "was assigned to"),
        ("UPDATE worker SET arm = NULL WHERE arm = 'left'", "is in arm None"),
        ("DELETE FROM event WHERE kind = 'arm' AND json_extract(evidence, '$.number') = 0", "each once"),
        (
            "UPDATE event SET evidence = json_set(evidence, '$.arm', CASE json_extract(evidence, '$.arm') "
            "WHEN 'left' THEN 'right' ELSE 'left' END) WHERE kind = 'arm'",
            "the randomisation gives",
        ),
        (
            "UPDATE event SET evidence = json_set(evidence, '$.seed', 3) WHERE kind = 'arm'",
            "with the seed 3, but the seed of arm assignment is ",
        ),
        ("UPDATE worker_identity SET panel = 'three' WHERE panel = 'two'", "which is not theirs"),
        ("UPDATE item SET sampled = NOT sampled WHERE sampled", "sampled, but not marked as sampled"),
        (
            "UPDATE item SET sampled = NOT sampled WHERE NOT sampled AND stage_id = "
            "(SELECT id FROM stage WHERE name = 'review')",
            "marked as sampled, but was not",
        ),
        (
            "UPDATE event SET evidence = json_insert(evidence, '$.items[#]', 'other') WHERE kind = 'sampled'",
            "not the random sample",
        ),
        (
            "UPDATE participation SET entered_at = 5 WHERE stage_id = (SELECT id FROM stage WHERE name = 'grading')",
            "without",
        ),
        ("UPDATE entry SET amount = amount + 1 WHERE cause LIKE 'gate:%'", "the ledger has"),
        ("UPDATE participation SET worked_ms = worked_ms + 1 WHERE answered > 0", "time worked stored"),
        ("UPDATE participation SET worked_ms = worked_ms - 1 WHERE worked_ms > 0", "time worked stored"),
        ("UPDATE response SET duration_ms = duration_ms - 1 WHERE duration_ms > 0", "time worked stored"),
        (
            "UPDATE response SET kind = 'gold' WHERE id = (SELECT min(id) FROM response WHERE kind = 'production')",
            "is stored as an answer to gold, but its item has no gold answer",
        ),
    ],
)
def test_whatever_is_changed_is_found(study: Study, statement: str, told: str) -> None:
    tamper(study, statement)
    differences = look(study, lambda tx: verify(tx, study)).differences
    assert any(told in line for line in differences), differences


def test_a_rule_worded_by_another_version_still_agrees(study: Study) -> None:
    """Only a rule's numbers are compared, so that words can change without every older study differing."""
    for table in ("verdict", "event"):
        reworded = f"UPDATE {table} SET evidence = replace(evidence, 'the best 60%', 'in the top 60 percent')"
        tamper(study, f"{reworded} WHERE evidence LIKE '%the best 60!%%' ESCAPE '!'")
    assert "in the top 60 percent" in str(look(study, lambda tx: [row.evidence for row in gates.verdicts(tx)]))
    assert look(study, lambda tx: verify(tx, study)).differences == []
    for table in ("verdict", "event"):
        tamper(study, f"UPDATE {table} SET evidence = replace(evidence, 'top 60 percent', 'top 50 percent')")
    differences = look(study, lambda tx: verify(tx, study)).differences
    assert any("rule in the top 50 percent in the evidence" in line for line in differences), differences


@pytest.mark.parametrize("duration", ["submitted_at - leased_at + 1", "-1"])
def test_nobody_worked_longer_than_they_held_the_item(study: Study, duration: str) -> None:
    """Also where the sum of a worker's times was changed with them."""
    of_assignment = "(SELECT leased_at FROM assignment WHERE assignment.id = assignment_id)"
    tamper(study, f"UPDATE response SET duration_ms = {duration.replace('leased_at', of_assignment)}")
    tamper(
        study,
        "UPDATE participation SET worked_ms = (SELECT coalesce(sum(duration_ms), 0) FROM response "
        "WHERE response.worker_id = participation.worker_id AND response.stage_id = participation.stage_id)",
    )
    differences = look(study, lambda tx: verify(tx, study)).differences
    assert differences
    assert all("passed between assignment and submission" in line for line in differences), differences


def test_verify_accepts_the_answers_of_a_clock_that_was_set_back(study: Study) -> None:
    tamper(study, "UPDATE assignment SET leased_at = leased_at + 1000000000 WHERE state = 'submitted'")
    tamper(study, "UPDATE response SET duration_ms = 0")
    tamper(study, "UPDATE participation SET worked_ms = 0")
    assert look(study, lambda tx: verify(tx, study)).differences == []
