"""Changes of study.toml after people have started: every setting has a rule, and every rule is enforced."""

import copy
import shutil
import tomllib
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine.changing_settings import as_stored
from chorale.engine.entering import consent
from chorale.engine.ledger_currency import opened_with
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.payout_files import file_written, plan_file
from chorale.folder.reading import check_folder
from chorale.model import StudySettings, UserError
from chorale.model.setting_rules import GROUPED, RULES, When, changed_settings, setting_names
from chorale.rehearsal.varying import toml_text
from chorale.store import Tx, events
from chorale.store.memory import MemoryStore, open_memory_store
from conftest import StudyMaker
from crowd import Person, do, look
from protocol_world import Somebody, World
from random_study import TONES, Drawn, write_study

DRAWN = Drawn(
    arms='[arms]\nnames = ["left", "right"]\nstratify = "panel"\n',
    pay="fee_percent = 20\n",
    first="threshold = 0.1\nbonus = 7\n",
    second="threshold = 0.1\nbonus = 7\n",
    gold="share = 0.5\nfloor = 0.1\nafter = 2\nwindow = 6\nbonus = { right = 1, of = 2, amount = 5 }\n",
    judgments=2,
    items=6,
    more="items = 1",
    finished=11,
    limit=20,
)
EXTRA = """
[mail]
host = "mail.example.org"
sender = "team@example.org"
[prolific]
[[prolific.study]]
name = "main"
description = "Say what tone it has."
places = 3
minutes = 10
reward = 5
screenout = "fixed"
screenout_reward = 2
content_warning = "sensitive"
[[prolific.study]]
name = "later"
description = "The second round."
places = 3
minutes = 10
reward = 5
[[prolific.study]]
name = "set"
description = "For others."
places = 3
minutes = 10
reward = 5
filter_set = "abc"
[analysis]
primary = { outcome = "gold" }
[writing]
disclosure = "We count how much of an answer is pasted."
"""
CONSENT = """
We count how much of an answer is pasted.
We count how often the page is left.
"""
TONE = {"name": "tone", "kind": "choice", "ask": "Which tone?", "options": ["kind", "rude"]}
# What to change each setting to, and where: in which stage, gate or study on Prolific. None takes it out.
CHANGED: dict[str, tuple[str, Any]] = {
    "study.title": ("", "Another title"),
    "study.language": ("", "de"),
    "study.contact": ("", "others@example.org"),
    "study.consent": ("", "other.md"),
    "study.seed": ("", 99),
    "arrival.by_url": ("", False),
    "arrival.landing": ("", True),
    "arrival.panel": ("", "connect"),
    "arrival.worker_parameter": ("", "PERSON"),
    "arrival.study_parameter": ("", "STUDY"),
    "arrival.session_parameter": ("", "VISIT"),
    "arrival.worker_pattern": ("", "[a-z0-9]+"),
    "arrival.study_id": ("", "abc"),
    "arrival.completion_url": ("", "https://example.org/{code}"),
    "arrival.finish_after": ("", 3),
    "arrival.completion_code": ("", "ALLDONE"),
    "arrival.screenout_code": ("", "OUT"),
    "arrival.screenout_url": ("", "https://example.org/partial"),
    "arrival.signed": ("", "prolific"),
    "arrival.signing_keys": ("", "keys.json"),
    "arrival.workspace": ("", "5f0c1b2a9d3e4c5b6a7d8e9f"),
    "retention.identities_days": ("", 90),
    "retention.answers_days": ("", 900),
    "retention.withdrawn_answers": ("", "keep"),
    "mail": ("", None),
    "writing": ("", None),
    "writing.disclosure": ("", "We count how often the page is left."),
    "mail.host": ("", "mail.example.com"),
    "mail.port": ("", 25),
    "mail.security": ("", "tls"),
    "mail.username": ("", "team"),
    "mail.sender": ("", "other@example.org"),
    "mail.results": ("", False),
    "mail.invitation": ("", "Come: {link}"),
    "prolific": ("", None),
    "prolific.project": ("", "abc"),
    "prolific.approve": ("", False),
    "prolific.sync_minutes": ("", 7),
    "prolific.webhooks": ("", True),
    "prolific.study.maximum_minutes": ("main", 60),
    "prolific.study.follows": ("later", "main"),
    "prolific.study.allow_groups": ("main", ["abc"]),
    "prolific.study.block_groups": ("main", ["abc"]),
    "prolific.study.screenout": ("main", "return"),
    "prolific.study.screenout_reward": ("main", 3),
    "prolific.study.screenout_slots": ("main", 9),
    "prolific.study.submissions_per_person": ("main", 2),
    "prolific.study.at_once": ("main", 2),
    "prolific.study.label": ("main", "annotation"),
    "prolific.study.content_warning": ("main", "explicit"),
    "prolific.study.content_warning_details": ("main", "Some texts are rude."),
    "prolific.study.filter_set": ("set", "def"),
    "prolific.study.filter_set_version": ("set", 3),
    "prolific.study.title": ("main", "Other"),
    "prolific.study.description": ("main", "Other"),
    "prolific.study.stages": ("main", ["training"]),
    "prolific.study.places": ("main", 5),
    "prolific.study.minutes": ("main", 20),
    "prolific.study.reward": ("main", 9),
    "prolific.study.invite": ("main", "trained"),
    "prolific.study.completion_code": ("main", "ONE"),
    "prolific.study.screenout_code": ("main", "TWO"),
    "prolific.study.devices": ("main", ["desktop"]),
    "prolific.study.filters": ("main", [{"filter_id": "handedness", "selected_values": ["0"]}]),
    "pay.currency": ("", "JPY"),
    "pay.fee_percent": ("", 30),
    "pay.minimum_hourly": ("", 1),
    "pay.methods": ("", ["paypal"]),
    "pay.budget": ("", 1_000_000),
    "arms": ("", None),
    "arms.names": ("", ["right", "left"]),
    "arms.weights": ("", [1, 2]),
    "arms.blocks": ("", [1, 2]),
    "analysis": ("", None),
    "analysis.primary.outcome": ("", "retained"),
    "analysis.primary.unit": ("", "item"),
    "analysis.primary.test": ("", "bootstrap"),
    "analysis.primary.against": ("", "right"),
    "analysis.secondary": ("", [{"outcome": "retained"}]),
    "analysis.registered": ("", "https://example.org/plan"),
    "arms.after": ("", "trained"),
    "arms.stratify": ("", None),
    "stage.title": ("write-a", "Other"),
    "stage.task": ("write-a", "rules-meaningful"),
    "stage.guidelines": ("write-a", "other.md"),
    "stage.items": ("training", {"file": "write-a.jsonl"}),
    "stage.items.file": ("write-a", "same.jsonl"),
    "stage.items.assigned": ("write-a", "assigned.csv"),
    "stage.items.from": ("review", ["write-a"]),
    "stage.items.of": ("review", "together"),
    "stage.items.confidence": ("review", 0.9),
    "stage.items.sample": ("review", 0.3),
    "stage.items.per_worker": ("review", 1),
    "stage.items.wait": ("review", True),
    "stage.round": ("training", None),
    "stage.round.file": ("training", "same-round.jsonl"),
    "stage.round.size": ("training", 2),
    "stage.round.over_admission": ("training", 3),
    "stage.round.feedback": ("training", "at once"),
    "stage.round.pass_score": ("training", 0.5),
    "stage.arms": ("write-a", ["left", "right"]),
    "stage.grades": ("grading", False),
    "stage.judgments.min": ("write-a", 1),
    "stage.judgments.max": ("write-a", 4),
    "stage.judgments.until": ("write-a", 0.9),
    "stage.judgments.sample": ("review", None),
    "stage.judgments.sample.share": ("review", 0.5),
    "stage.judgments.sample.items": ("review", 2),
    "stage.judgments.sample.judgments": ("review", 4),
    "stage.judgments.fields": ("write-a", ["tone"]),
    "stage.release_confidence": ("write-a", 0.1),
    "stage.review_sample": ("write-a", 0.5),
    "stage.sense.min_seconds": ("write-b", 1),
    "stage.sense.refuse": ("write-b", True),
    "stage.sense.same_answers": ("write-b", 30),
    "stage.sense.same_text": ("write-b", 9),
    "stage.sense.copied_words": ("write-b", 30),
    "stage.entry.qualifications": ("write-a", []),
    "stage.entry.qualified_in": ("review", "write-a"),
    "stage.entry.accuracy": ("write-a", 0.1),
    "stage.entry.answered": ("write-a", 1),
    "stage.entry.exclude_dropped": ("write-a", False),
    "stage.entry.exclude_contributors": ("review", False),
    "stage.lease_minutes": ("write-a", 5),
    "stage.max_per_worker": ("write-a", 30),
    "stage.gold": ("write-a", None),
    "stage.gold.unit": ("write-a", "part"),
    "stage.gold.file": ("write-a", "same-gold.jsonl"),
    "stage.gold.share": ("write-a", 0.2),
    "stage.gold.reuse": ("write-a", False),
    "stage.gold.feedback": ("write-a", "at once"),
    "stage.skips.first": ("write-a", 2),
    "stage.skips.share": ("write-a", 0.5),
    "stage.gold.floor": ("write-a", 0.9),
    "stage.gold.after": ("write-a", 1),
    "stage.gold.window": ("write-a", 2),
    "stage.gold.smoothing": ("write-a", 2),
    "stage.gold.grace": ("write-a", 5),
    "stage.gold.pass_score": ("write-a", 0.5),
    "stage.gold.bonus": ("write-a", None),
    "stage.gold.bonus.right": ("write-a", 2),
    "stage.gold.bonus.of": ("write-a", 3),
    "stage.gold.bonus.amount": ("write-a", 9),
    "stage.pay.per_judgment": ("write-a", 8),
    "stage.pay.by_length": ("write-a", None),
    "stage.pay.by_length.per_100_words": ("write-a", 30),
    "stage.pay.by_length.most": ("write-a", 9),
    "stage.pay.parts": ("write-a", None),
    "stage.pay.parts.amounts": ("write-a", [2]),
    "stage.pay.expected_parts": ("write-a", 2),
    "stage.pay.finished": ("training", 20),
    "stage.pay.finished_from": ("grading", 2),
    "stage.pay.expected_seconds": ("write-a", 20),
    "stage.rehearsal": ("write-a", {"truth": "truth.jsonl"}),
    "stage.rehearsal.truth": ("write-b", "other-truth.jsonl"),
    "stage.options_from": ("write-b", "write-a"),
    "stage.options": (
        "write-a",
        {"shows": [{"item": "text"}], "fields": [{**TONE, "options": ["kind", "rude", "other"]}]},
    ),
    "stage.models": ("write-b", None),
    "stage.models.use": ("write-b", ["m1"]),
    "stage.models.role": ("write-b", "worker"),
    "stage.models.run": ("write-b", True),
    "stage.models.below": ("write-b", 0.5),
    "stage.models.audit": ("write-b", 0.5),
    "stage.models.expected": ("write-b", 0.3),
    "stage.models.arms": ("write-b", ["one"]),
    "stage.models.wrong": ("write-b", 0.1),
    "stage.models.disclosure": ("write-b", "Some suggestions are wrong on purpose."),
    "model.endpoint": ("m1", "http://localhost:2/v1"),
    "model.protocol": ("m1", "anthropic"),
    "model.folder": ("m1", "a-model"),
    "model.command": ("m1", ["a-program"]),
    "model.answers": ("m1", "truth.jsonl"),
    "model.model": ("m1", "larger"),
    "model.key": ("m1", "A_KEY"),
    "model.temperature": ("m1", 1),
    "model.seed": ("m1", 5),
    "model.max_tokens": ("m1", 5),
    "model.max_prompt_tokens": ("m1", 500),
    "model.limit_name": ("m1", "max_completion_tokens"),
    "model.input_price": ("m1", 0.125),
    "model.output_price": ("m1", 5),
    "model.at_once": ("m1", 2),
    "model.timeout_seconds": ("m1", 5),
    "model.tries": ("m1", 2),
    "model.structured": ("m1", False),
    "model.examples": ("m1", 2),
    "model.confidence": ("m1", "stated"),
    "model.samples": ("m1", 3),
    "gate.stage": ("writer", ["write-b"]),
    "gate.graded": ("writer", 2),
    "gate.threshold": ("trained", 0.9),
    "gate.top_share": ("writer", {"top_share": 0.5, "threshold": None}),
    "gate.top": ("writer", {"top": 5, "threshold": None}),
    "gate.floor": ("writer", 0.2),
    "gate.criteria": ("writer", {"quality": 0.4}),
    "gate.ties": ("writer", "draw"),
    "gate.decides": ("trained", "together"),
    "gate.workers": ("trained", 5),
    "gate.expected": ("trained", 9),
    "gate.bonus": ("trained", 9),
    "gate.promote": ("together", None),
    "gate.promote.to": ("together", "very-best"),
    "gate.promote.top_share": ("together", 0.9),
    "gate.message": ("trained", "other.md"),
    "gate.review": ("trained", True),
}
# Tables that are always there, and names, by which stages, gates, studies and items are told apart.
ALWAYS_THERE = {
    *("study", "arrival", "pay", "stage", "gate", "prolific.study", "stage.judgments", "stage.entry", "stage.pay"),
    *("stage.skips", "stage.sense", "retention", "analysis.primary"),
    *("stage.name", "gate.name", "prolific.study.name", "model", "model.name", "format", "stage.items.id"),
}
# Settings of tasks where people choose from a list, whose answers have many parts, or that put answers together: this
# study has no such stage.
OF_OTHER_TASKS = {
    *("stage.quality", "stage.quality.floor", "stage.quality.after", "stage.judgments.stable"),
    *("stage.pay.parts.beyond", "stage.pay.kept", "stage.pay.kept.beyond", "stage.pay.kept.amounts"),
    *("stage.grades_sources", "stage.decides_sources", "stage.items.below", "stage.items.where"),
}


@pytest.fixture(autouse=True)
def same_gold_positions() -> None:
    """Here gold comes where the study's own secrets say."""


def test_every_setting_has_one_rule() -> None:
    assert sorted(setting_names(StudySettings)) == sorted(RULES)
    assert len(RULES) == sum(len(rule.settings) for rule in GROUPED)


def test_every_rule_is_tried() -> None:
    assert sorted([*CHANGED, *ALWAYS_THERE, *OF_OTHER_TASKS]) == sorted(RULES)


def _write(folder: Path) -> dict[str, Any]:
    """A study with as many kinds of settings as one study can have; its file."""
    write_study(folder, DRAWN)
    for new, old in (("same", "write-a"), ("same-round", "round"), ("same-gold", "gold")):
        shutil.copy(folder / f"{old}.jsonl", folder / f"{new}.jsonl")
    truth = "".join(
        f'{{"id": "i{n}", "text": "item {n} {TONES[n % 2]}", "answer": {{"tone": "kind"}}}}\n'
        for n in range(DRAWN.items)
    )
    for name in ("truth", "other-truth"):
        (folder / f"{name}.jsonl").write_text(truth)
    (folder / "other.md").write_text(f"Another text.\n{CONSENT}")
    (folder / "consent.md").write_text((folder / "consent.md").read_text() + CONSENT)
    (folder / "assigned.csv").write_text("item,annotator\n")
    raw = tomllib.loads((folder / "study.toml").read_text() + EXTRA)
    write_a, write_b = raw["stage"][1], raw["stage"][2]
    write_a["pay"]["parts"] = {"beyond": 0, "amounts": [1]}
    write_a["pay"]["by_length"] = {"per_100_words": 20, "most": 4}
    write_b["rehearsal"] = {"truth": "truth.jsonl"}
    write_b["sense"] = {"min_seconds": 0.001}
    write_b["models"] = {"role": "beside"}
    raw["model"] = [{"name": "m1", "endpoint": "http://localhost:1/v1"}]
    raw["gate"].append({"name": "together", "stage": "write-b", "top_share": 0.9})
    raw["gate"][-1]["promote"] = {"to": "best", "top_share": 0.5}
    (folder / "study.toml").write_text(toml_text(raw))
    return raw


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A study in which people have done something in every stage."""
    folder = tmp_path_factory.mktemp("study")
    _write(folder)
    store: MemoryStore = open_memory_store()
    world = World(folder, store, tick=1)
    for number in range(9):
        world.come((number * 2 + 1) if number else 4)
    for one in world.people[1:8]:
        world.finish_round(one, one.id)
    _go_on(world, 200)
    world.advance()
    assert look(world.study, lambda tx: verify(tx, world.study)).differences == []
    return world


def _go_on(world: World, steps: int) -> None:
    chance = Random(5)
    for _ in range(steps):
        world.clock.now += 1000
        world.work_on(chance.choice(world.people), chance.randrange(1, 105))


def _with(raw: dict[str, Any], setting: str) -> dict[str, Any]:
    """The study file with one setting changed."""
    raw = copy.deepcopy(raw)
    name, value = CHANGED[setting]
    table: Any = raw
    *path, last = setting.split(".")
    for part in path:
        table = table.setdefault(part, {})
        if isinstance(table, list):
            table = next(one for one in table if one["name"] == name)
        elif part == "judgments" and not isinstance(table, dict):
            raise AssertionError
    if setting == "prolific.study.screenout":
        table.pop("screenout_reward")
    for key, inner in value.items() if last in ("top", "top_share") and isinstance(value, dict) else ((last, value),):
        if inner is None:
            table.pop(key)
        else:
            table[key] = inner
    return raw


def _beside(raw: dict[str, Any], setting: str) -> None:  # noqa: PLR0912 - one branch a setting
    """Change what else has to change for the study file to make sense."""
    stages = {stage["name"]: stage for stage in raw["stage"]}
    if setting == "stage.items":
        stages["training"].pop("round")
    if setting == "stage.round":
        stages["training"]["items"] = {"file": "write-a.jsonl"}
    if setting in ("stage.items", "stage.round"):
        stages["training"]["pay"].pop("finished")
        raw["gate"] = [gate for gate in raw["gate"] if gate["name"] != "trained"]
        for name in ("write-a", "write-b"):
            stages[name].pop("entry")
    if setting == "arms":
        raw.pop("analysis")
        for name in ("write-a", "write-b"):
            stages[name].pop("arms")
    if setting == "stage.judgments.sample.share":
        stages["review"]["judgments"]["sample"].pop("items")
    if setting == "stage.judgments.min":
        stages["write-a"]["judgments"]["until"] = 0.9
    if setting == "stage.judgments.max":
        stages["write-a"]["judgments"]["until"] = 0.9
    if setting == "stage.judgments.until":
        stages["write-a"]["judgments"]["max"] = 3
    if setting == "stage.grades":
        raw["gate"] = raw["gate"][:1]
    if setting in ("model.folder", "model.command", "model.answers"):
        raw["model"][0].pop("endpoint")
    if setting == "gate.decides":
        raw["gate"][0]["workers"] = 5


@pytest.mark.slow
@pytest.mark.parametrize("setting", sorted(CHANGED))
def test_a_change_is_refused_or_kept_with_what_it_was(begun: World, setting: str) -> None:
    raw = tomllib.loads((begun.folder.path / "study.toml").read_text())
    for stage in raw["stage"]:
        given = stage.get("judgments")
        if isinstance(given, int):
            stage["judgments"] = {"min": given, "max": given}
    changed = _with(raw, setting)
    _beside(changed, setting)
    folder, problems = check_folder(begun.folder.path, toml_text(changed))
    if setting not in ("stage.task", "stage.gold.unit"):  # a form has no parts to count
        assert not problems
    if folder is None:
        return
    changes = list(changed_settings(StudySettings, as_stored(begun.folder.settings), as_stored(folder.settings)))
    assert setting in {change.setting for change in changes}
    world = copy.copy(begun)
    world.people = [Somebody(one.id, one.skill, one.expert, list(one.offers)) for one in begun.people]
    world.log, world.folder, world.clock = [], folder, copy.copy(begun.clock)
    world.clock.now += 1000
    rule = RULES[setting]
    if rule.when not in (When.ANY_TIME, When.SAME_CONTENT) or setting in ("stage.round.size", "stage.options"):
        with pytest.raises(UserError) as refused:
            world._opened(begun.study.store.copy())  # type: ignore[attr-defined]
        named = {"study.seed": "seed", "stage.round.size": "had 3 items", "stage.options": "answers of stage"}
        assert any(named.get(setting, f"`{setting}`") in problem.message for problem in refused.value.problems)
        assert all(problem.fix.startswith(("Restore", "Remove it.")) for problem in refused.value.problems)
        assert not any("nothing" in problem.fix.split(".")[0] for problem in refused.value.problems)
        return
    world.study = world._opened(begun.study.store.copy())  # type: ignore[attr-defined]
    latest = look(world.study, lambda tx: events.recent(tx, 1, kinds=("settings",)))[0]
    recorded = {
        (one["setting"], one.get("of", "")): (one["before"], one["after"]) for one in latest.evidence["changed"]
    }
    assert recorded == {(one.setting, ", ".join(one.of)): (one.before, one.after) for one in changes}
    if setting == "study.consent":
        for one in world.people:
            if not one.expert:  # experts are asked for none
                do(world.study, consent, one.id)
    _go_on(world, 12)
    world.advance()
    assert look(world.study, lambda tx: verify(tx, world.study)).differences == []
    world.study.close()


# The currency of the ledger


def _in_yen(folder: Path) -> None:
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("[pay]\n", '[pay]\ncurrency = "JPY"\n'))


def test_the_currency_may_change_until_somebody_is_paid(
    make_study: StudyMaker, tmp_path: Path, database: str | None
) -> None:
    study = make_study()
    person = Person(study, "one")
    offer = person.next()
    study.close()
    _in_yen(tmp_path / "study")
    with closing(open_study(tmp_path / "study", database, study.clock)) as again:
        assert look(again, opened_with) is None
        Person(again, "one").submit(offer)
        assert look(again, opened_with) == ("JPY", 0)
        assert look(again, lambda tx: verify(tx, again)).differences == []


def test_no_command_opens_a_study_whose_ledger_is_in_another_currency(
    make_study: StudyMaker, tmp_path: Path, database: str | None
) -> None:
    study = make_study()
    folder = tmp_path / "study"
    Person(study, "one").judge()
    study.close()
    _in_yen(folder)
    with pytest.raises(UserError, match=r'`pay.currency` is "JPY", and the ledger has amounts in USD') as refused:
        open_study(folder, database)
    assert 'Restore currency = "USD"' in refused.value.problems[0].fix
    out = ["--out", str(tmp_path / "out")]
    where = [] if database is None else ["--db", database]
    for command, more in {"check": [], "verify": [], "status": [], "pay": [], "export": out, "gold": []}.items():
        done = CliRunner().invoke(app, [command, str(folder), *more, *where])
        assert done.exit_code == 2, (command, done.output)
        assert "ledger has amounts in USD" in done.output, command


def test_verify_finds_entries_made_under_another_currency(make_study: StudyMaker, tmp_path: Path) -> None:
    """As a version of Chorale that did not know better left them."""
    study = make_study()
    Person(study, "one").judge()
    yen = (tmp_path / "study" / "study.toml").read_text().replace("[pay]\n", '[pay]\ncurrency = "JPY"\n')

    def as_before(tx: Tx, study: Study) -> None:
        events.record(tx, study.clock() + 1, "settings", {"study.toml": yen})
        tx.execute(text("DELETE FROM setting WHERE key = 'ledger'"))

    do(study, as_before)
    study.clock.pass_minutes(1)  # type: ignore[attr-defined]
    Person(study, "two").judge()
    found = look(study, lambda tx: verify(tx, study))
    said = "ledger: opened in USD, and 1 entry was made while the study file had JPY"
    assert (found.differences, found.conclusion) == ([said], "1 difference found.")


def test_verify_never_says_everything_where_something_was_not_checked(make_study: StudyMaker) -> None:
    study = make_study()
    Person(study, "one").judge()
    number = do(study, plan_file)
    assert number is not None
    do(study, file_written, number)
    found = look(study, lambda tx: verify(tx, study))
    assert "whether the amounts of 1 payout file were paid" in found.unchecked
    assert found.conclusion == "Everything that could be checked agrees."
