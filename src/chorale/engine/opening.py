"""Opening a study: check its folder, update its database, import stages, items and gold."""

import fcntl
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from chorale.contract.reading_time import shown_words
from chorale.engine.advancing import advance
from chorale.engine.bringing_in import add_new, as_begun, item_problems
from chorale.engine.changing_settings import as_evidence, changes_since, keep_in_force, refused_changes
from chorale.engine.clock import Clock, SteadyClock, wall_clock
from chorale.engine.entering import put_everybody_in_arms
from chorale.engine.gates import decide_about_everybody
from chorale.engine.ledger_currency import currency_problem, keep_currency
from chorale.engine.planning import note_forecast
from chorale.engine.running import Study, running_gates, running_stage
from chorale.engine.settling import derive_from_group, settle_group
from chorale.folder.reading import SETTINGS_FILE, StageContent, StudyFolder, load_folder
from chorale.model import Problem, Stage, UserError
from chorale.model.plural import plural
from chorale.model.shared_options import with_shared_options
from chorale.protocol import rule_for
from chorale.store import (
    Store,
    Tx,
    codec,
    consents,
    epochs,
    events,
    labels,
    lengths,
    locks,
    open_store,
    settings,
    stages,
    store_url,
)
from chorale.store.consents import ConsentForm
from chorale.store.gold import gold_by_key
from chorale.store.holding import held

DATABASE = "study.db"
CHECK_SECONDS = 10.0
"""Time limit of the database check before a site opens; `chorale verify` has no limit."""


def open_study(path: Path, database: str | None = None, clock: Clock = wall_clock) -> Study:
    """Open the study in a folder, with its own SQLite file or the given database."""
    folder = load_folder(path)
    store = open_store(store_url(database, path / DATABASE), check_seconds=CHECK_SECONDS)
    try:
        return bring_in(folder, store, steady_clock(store) if clock is wall_clock else clock)
    except BaseException:
        store.close()
        raise


def steady_clock(store: Store) -> Clock:
    """The machine's clock, but never earlier than the latest time in the database."""
    return SteadyClock(wall_clock, store.look(events.latest_moment))


def bring_in_additions(study: Study, path: Path) -> None:
    """Import rows that were added to the files of an open study."""
    folder = load_folder(path)
    study.store.do(lambda tx: _sync(tx, folder, study.clock))
    study.store.do(lambda tx: _settle_after_changes(tx, study))


class OpenElsewhereError(UserError):
    """The study's site is already open."""


@contextmanager
def serving_alone(path: Path, database: str | None, refusal: str | None = None) -> Iterator[None]:
    """Prevent a second server on the study's SQLite file; PostgreSQL allows any number."""
    url = store_url(database, path / DATABASE)
    if url.get_backend_name() != "sqlite":
        yield
        return
    if not (path / SETTINGS_FILE).is_file() and not Path(str(url.database)).is_file():
        # There is no study here, and so no server.
        yield
        return
    with _open_lock(Path(f"{url.database}.serving")) as file:
        try:
            # The system releases the lock when the process ends, even after a crash.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise OpenElsewhereError(
                refusal
                or f"The site of {path} is already open: only one server can write to an SQLite file. Close it first, "
                "or use PostgreSQL (--db) for several servers."
            ) from None
        yield


@contextmanager
def annotating_alone(study: Study) -> Iterator[None]:
    """Prevent a second process from running a study's models: each would treat the other's requests as lost."""
    with held(study.store, locks.Alone.RUNS_MODELS) as is_held:
        if not is_held:
            raise UserError(
                "The models of this study are already running, with `chorale annotate` or on the site. Wait until they "
                "finish, or stop them first."
            )
        yield


def _open_lock(lock: Path) -> TextIO:
    try:
        return lock.open("a")
    except OSError as error:
        raise UserError(
            f"{lock} can't be written: {error.strerror}. Give the server write permission in that folder, or use "
            "another database with --db."
        ) from None


def bring_in(folder: StudyFolder, store: Store, clock: Clock) -> Study:
    """Import a folder into a database, and return the open study."""
    ids = store.do(lambda tx: _sync(tx, folder, clock))
    ties_at_random = store.look(settings.ties_at_random)
    study = Study(
        settings=folder.settings,
        consent=store.do(lambda tx: _consent_in_force(tx, folder, clock)),
        stages={
            content.settings.name: running_stage(
                folder.settings,
                content.settings,
                ids[content.settings.name],
                content.task,
                content.options,
                partial(len, content.gold),
                content.guidelines,
                ties_at_random=ties_at_random,
            )
            for content in folder.stages
        },
        store=store,
        clock=clock,
        gates=running_gates(folder.settings, folder.messages),
        fees_by_platform=store.look(settings.fees_by_platform),
        repeats_scarce_gold=store.look(settings.repeats_scarce_gold),
    ).with_tables()
    store.do(lambda tx: _settle_after_changes(tx, study))
    store.do(lambda tx: advance(tx, study))
    return study


def _consent_in_force(tx: Tx, folder: StudyFolder, clock: Clock) -> ConsentForm:
    """The current consent form: a new version if its text has changed."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    if not consents.latest_version(tx):
        consents.number_earlier_forms(tx)
    consents.put_in_force(tx, folder.consent, clock())
    return consents.forms(tx)[-1]


def _sync(tx: Tx, folder: StudyFolder, clock: Clock) -> dict[str, int]:
    """Import the folder's stages, items and gold into the database; returns the ids of the stages."""
    locks.lock(tx, locks.Alone.BRINGS_STUDY_IN)
    if problems := forbidden_changes(tx, folder):
        raise UserError("The study's files no longer match its database. Nothing was changed", problems)
    folder = as_begun(tx, folder)
    if stages.is_untouched(tx) and _conflicts(tx, folder):
        # Nobody has seen anything yet, so the files take precedence.
        stages.clear(
            tx, {content.settings.name: (content.task.name, content.task.version) for content in folder.stages}
        )
    epochs.begin_first(tx, clock())
    _note_settings(tx, folder, clock)
    note_forecast(tx, folder.path, clock())
    known = {stage.name: stage.id for stage in stages.all_stages(tx)}
    for position, content in enumerate(folder.stages):
        name = content.settings.name
        if name not in known:
            known[name] = stages.add_stage(tx, name, position, content.task.name, content.task.version)
        add_new(tx, folder, content, known[name], clock())
        if content.settings.pay.by_length is not None:
            rows = lengths.not_counted(tx, known[name])
            counted = ((key, shown_words(content.task, codec.frozen_from_text(payload))) for key, payload in rows)
            lengths.note_words(tx, known[name], counted)
    return known


def forbidden_changes(tx: Tx, folder: StudyFolder) -> list[Problem]:
    """Why this database can't be opened with a folder's files now; empty if it can.

    Serving and checking a study both use this.
    """
    folder = as_begun(tx, folder)
    changes = changes_since(tx, folder.settings) or ()
    # The seed is one of the conflicts: if nobody has started, the items are reordered.
    problems = list(refused_changes(tx, [change for change in changes if change.setting != "study.seed"]))
    wrong_currency = currency_problem(tx, folder.settings.pay.currency)
    problems += [] if wrong_currency is None else [wrong_currency]
    if not stages.is_untouched(tx):
        return [*_conflicts(tx, folder), *problems]
    return [*_missing_stages(folder, stages.logged_names(tx)), *problems]


def _conflicts(tx: Tx, folder: StudyFolder) -> list[Problem]:
    """Conflicts between the files and the database that disappear if the files are imported again."""
    known = {stage.name: stage for stage in stages.all_stages(tx)}
    problems = [
        *_missing_stages(folder, known),
        *_other_tasks(folder, known),
        *_seed_problems(tx, folder),
        *_shape_problems(tx, folder),
    ]
    for content in folder.stages:
        if content.settings.name in known:
            problems += item_problems(tx, content, known[content.settings.name].id)
    return problems


def _missing_stages(folder: StudyFolder, known: Iterable[str]) -> Iterable[Problem]:
    present = {content.settings.name for content in folder.stages}
    for name in known:
        if name not in present:
            yield Problem(
                "study.toml",
                None,
                f"stage {name!r} is missing, but work was done in it or it was paused",
                "Restore it.",
            )


def _other_tasks(folder: StudyFolder, known: Mapping[str, Stage]) -> Iterable[Problem]:
    for content in folder.stages:
        row = known.get(content.settings.name)
        if row is not None and content.task.name != row.task:
            yield Problem(
                "study.toml",
                None,
                f"stage {row.name!r} was a {row.task!r} stage when it started",
                "Restore its task, or give the new stage another name.",
                content.task.name,
            )


def _seed_problems(tx: Tx, folder: StudyFolder) -> Iterable[Problem]:
    seed = settings.setting_value(tx, "seed")
    if seed is not None and seed != str(folder.settings.study.seed):
        yield Problem("study.toml", None, "the seed can't change once the study has started", f"Restore {seed}.")


def _shape_problems(tx: Tx, folder: StudyFolder) -> Iterable[Problem]:
    """Stages whose changed options no longer fit the existing answers."""
    text = settings.setting_value(tx, "study")
    if text is None or stages.is_untouched(tx):
        return
    recorded = {stage["name"]: stage for stage in with_shared_options(tomllib.loads(text)).get("stage", [])}
    ids = {row.name: row.id for row in stages.all_stages(tx)}
    for content in folder.stages:
        stage, task = recorded.get(content.settings.name), content.task
        if stage is not None and content.settings.name in ids and "round" in stage:
            yield from _round_problems(tx, content, stage["round"].get("size"), ids[content.settings.name])
        if task.options.configure is None or stage is None or stage["task"] != task.name:
            continue
        try:
            before = task.options.configure(task.options.model.model_validate(stage.get("options", {})))
        except ValidationError:
            continue  # started by a version of Chorale with other options
        if before.shape.answer_schema != task.shape.answer_schema:
            yield Problem(
                SETTINGS_FILE,
                None,
                f"the possible answers of stage {content.settings.name!r} would change after the stage has started",
                "Restore its options, or give it a new name: existing answers belong to the old questions.",
            )


def _round_problems(tx: Tx, content: StageContent, size: int | None, stage_id: int) -> Iterable[Problem]:
    """Rounds whose number of items changed: some workers have finished them, were paid, and have decisions."""
    rule = content.settings.round
    if rule is None:
        fix = "Restore its [stage.round] table, or give the new stage another name."
        yield Problem(SETTINGS_FILE, None, f"stage {content.settings.name!r} was a round when it started", fix)
        return
    before = size or len(gold_by_key(tx, stage_id))
    now = rule.size or len(content.gold)
    if before != now:
        yield Problem(
            SETTINGS_FILE if rule.size else rule.file,
            None,
            f"the round {content.settings.name!r} had {plural(before, 'item', 'items')} for everybody when it started",
            f"Restore {plural(before, 'item', 'items')}, or give the changed round another name.",
            str(now),
        )


def _note_settings(tx: Tx, folder: StudyFolder, clock: Clock) -> None:
    """Store every version of the study file and of the texts shown to people."""
    texts = {folder.settings.study.consent: folder.consent}
    texts |= {content.settings.guidelines: content.guidelines for content in folder.stages}
    texts |= {gate.message: folder.messages[gate.message] for gate in folder.settings.gate if gate.message}
    if settings.setting_value(tx, "texts") != codec.as_text(texts):
        settings.set_setting(tx, "texts", codec.as_text(texts))
        hashes = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
        events.record(tx, clock(), "texts", {"files": texts, "sha256": hashes})
    if settings.setting_value(tx, "seed") is None:
        settings.draw_ties(tx)
        settings.show_scarce_gold_less(tx)
        settings.charge_platform_only(tx)
    settings.set_setting(tx, "seed", str(folder.settings.study.seed))
    if settings.setting_value(tx, "study") != folder.settings_text:
        changes = changes_since(tx, folder.settings)
        evidence = {} if changes is None else {"changed": as_evidence(changes)}
        settings.set_setting(tx, "study", folder.settings_text)
        settings.set_setting(tx, "unsettled", "yes")
        events.record(tx, clock(), "settings", {"study.toml": folder.settings_text, **evidence})
    keep_in_force(tx, folder.settings)
    keep_currency(tx, folder.settings.pay.currency)


def _settle_after_changes(tx: Tx, study: Study) -> None:
    """Apply changed settings to existing judgments."""
    if settings.setting_value(tx, "unsettled") != "yes":
        return
    for stage in study.stages.values():
        for sampled in (False, True):
            wanted = rule_for(stage.settings.judgments, sampled).min
            labels.set_wanted_of_unjudged(tx, stage.id, wanted, sampled=sampled)
        for group_key in labels.judged_groups(tx, stage.id):
            settle_group(tx, study, stage, group_key)
            if stage.feeds:
                # A later stage may be new, or have another confidence threshold.
                derive_from_group(tx, study, stage, group_key)
    decide_about_everybody(tx, study)
    put_everybody_in_arms(tx, study)
    settings.set_setting(tx, "unsettled", "no")
