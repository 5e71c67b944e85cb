"""Opening a study: its folder checked, its database current, its stages, items and gold brought in."""

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import TextIO

from chorale.model import NewItem, Problem, UserError
from chorale.store import Store, Tx, events, labels, open_store, setup, store_url
from chorale.store.setup import NewGold, StageRow
from chorale.study.clock import Clock, wall_clock
from chorale.study.folder import SETTINGS_FILE, StageContent, StudyFolder, load_folder
from chorale.study.running import RunningStage, Study
from chorale.study.settling import derive_from_group, settle_group

DATABASE = "study.db"


def open_study(path: Path, database: str | None = None, clock: Clock = wall_clock) -> Study:
    """Open the study in a folder, on its own SQLite file or the database given."""
    folder = load_folder(path)
    store = open_store(store_url(database, path / DATABASE))
    try:
        return _bring_in(folder, store, clock)
    except BaseException:
        store.close()
        raise


def bring_in_additions(study: Study, path: Path) -> None:
    """Bring in rows that were added to the files of a study that is open."""
    folder = load_folder(path)
    study.store.write(lambda tx: _sync(tx, folder, study.clock)).result()


@contextmanager
def serving_alone(path: Path, database: str | None) -> Iterator[None]:
    """Keep a second server from the study's SQLite file while one is running; PostgreSQL may have any number."""
    url = store_url(database, path / DATABASE)
    if url.get_backend_name() != "sqlite" or not (path / SETTINGS_FILE).is_file():
        yield
        return
    with _open_lock(Path(f"{url.database}.serving")) as file:
        try:
            # The system lets go of it when the process ends, however it ends.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"The site of {path} is open already: one server at a time writes to an SQLite file. Close that one "
                "first, or use PostgreSQL (--db) for several."
            ) from None
        yield


def _open_lock(lock: Path) -> TextIO:
    try:
        return lock.open("a")
    except OSError as error:
        raise UserError(
            f"{lock} can't be written: {error.strerror}. Let the server write in that folder, or name a database "
            "elsewhere with --db."
        ) from None


def _bring_in(folder: StudyFolder, store: Store, clock: Clock) -> Study:
    ids = store.write(lambda tx: _sync(tx, folder, clock)).result()
    feeds: dict[str, list[str]] = {}
    for content in folder.stages:
        if content.settings.items.from_ is not None:
            feeds.setdefault(content.settings.items.from_, []).append(content.settings.name)
    study = Study(
        settings=folder.settings,
        consent=folder.consent,
        stages={
            content.settings.name: RunningStage(
                id=ids[content.settings.name],
                settings=content.settings,
                task=content.task,
                options=content.options,
                guidelines=content.guidelines,
                feeds=tuple(feeds.get(content.settings.name, ())),
            )
            for content in folder.stages
        },
        store=store,
        clock=clock,
    )
    store.write(lambda tx: _settle_after_changes(tx, study)).result()
    return study


def _sync(tx: Tx, folder: StudyFolder, clock: Clock) -> dict[str, int]:
    """Bring the folder's stages, items and gold into the database; the ids of the stages."""
    setup.lock_setup(tx)
    setup.clear_if_untouched(tx)
    problems: list[Problem] = []
    known = {stage.name: stage for stage in setup.stages(tx)}
    problems += _stage_problems(folder, known)
    _note_settings(tx, folder, clock, problems)
    ids: dict[str, int] = {}
    for position, content in enumerate(folder.stages):
        name = content.settings.name
        if name in known:
            ids[name] = known[name].id
        else:
            ids[name] = setup.add_stage(tx, name, position, content.task.name, content.task.version)
        _sync_items(tx, folder, content, ids[name], problems)
    if problems:
        raise UserError("The study's files no longer fit what its database holds. Nothing was changed", problems)
    return ids


def _stage_problems(folder: StudyFolder, known: dict[str, StageRow]) -> Iterable[Problem]:
    present = {content.settings.name: content for content in folder.stages}
    for name, row in known.items():
        if name not in present:
            yield Problem("study.toml", None, f"stage {name!r} is gone, but work was done in it", "Put it back.")
        elif present[name].task.name != row.task:
            yield Problem(
                "study.toml",
                None,
                f"stage {name!r} was a {row.task!r} stage when it started",
                "Put its task back, or give the new stage another name.",
                present[name].task.name,
            )


def _note_settings(tx: Tx, folder: StudyFolder, clock: Clock, problems: list[Problem]) -> None:
    """Keep every version of the study file that was in force, and of the texts people were shown."""
    texts = {folder.settings.study.consent: folder.consent}
    texts |= {content.settings.guidelines: content.guidelines for content in folder.stages}
    if setup.setting_value(tx, "texts") != setup.as_text(texts):
        setup.set_setting(tx, "texts", setup.as_text(texts))
        hashes = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}
        events.record(tx, clock(), "texts", {"files": texts, "sha256": hashes})
    before = setup.setting_value(tx, "study")
    if before == folder.settings_text:
        return
    seed = setup.setting_value(tx, "seed")
    if seed is not None and seed != str(folder.settings.study.seed):
        problems.append(
            Problem("study.toml", None, "the seed can't change once the study has started", f"Put back {seed}.")
        )
    setup.set_setting(tx, "study", folder.settings_text)
    setup.set_setting(tx, "seed", str(folder.settings.study.seed))
    setup.set_setting(tx, "unsettled", "yes")
    events.record(tx, clock(), "settings", {"study.toml": folder.settings_text})


def _sync_items(tx: Tx, folder: StudyFolder, content: StageContent, stage_id: int, problems: list[Problem]) -> None:
    stage, seed = content.settings, folder.settings.study.seed
    known = setup.known_items(tx, stage_id)
    new_items: list[NewItem] = []
    for item in content.items:
        _add_or_compare(known, item, stage.items.file or "", new_items, problems)
    setup.add_items(tx, stage_id, stage.name, seed, new_items, stage.judgments.min)
    new_gold: list[NewGold] = []
    known_gold = setup.known_gold(tx, stage_id)
    gold_file = stage.gold.file if stage.gold else ""
    for gold in content.gold:
        new: list[NewItem] = []
        _add_or_compare(known, gold.item, gold_file, new, problems)
        if new:
            new_gold.append(NewGold(gold.item, gold.answer, gold.explanation, "file"))
            continue
        answer, explanation = known_gold.get(gold.item.key, (setup.as_text(gold.answer), gold.explanation))
        if answer != setup.as_text(gold.answer):
            problems.append(
                Problem(
                    gold_file,
                    None,
                    f"gold {gold.item.key!r} has another answer than when the study started ({answer})",
                    "Put it back: workers were judged by it. Retire it with `chorale gold` and add it under a new id.",
                    setup.as_text(gold.answer),
                )
            )
        elif explanation != gold.explanation:
            setup.explain_gold(tx, stage_id, gold.item.key, gold.explanation)
    setup.add_gold(tx, stage_id, stage.name, seed, new_gold)
    if stage.items.file is not None:
        problems += _missing(known, content, stage.items.file)


def _missing(known: dict[str, str], content: StageContent, file: str) -> list[Problem]:
    """Items the database has and the files no longer have: somebody removed them, or it is another study's database."""
    present = {item.key for item in content.items} | {gold.item.key for gold in content.gold}
    gone = sorted(set(known) - present)
    if not gone:
        return []
    return [
        Problem(
            file,
            None,
            f"{len(gone):,} items of stage {content.settings.name!r} are in the database and not in the files",
            "Put them back (a stage can get more items, never fewer), or use the database that belongs to this study.",
            ", ".join(gone[:5]) + (" …" if len(gone) > 5 else ""),
        )
    ]


def _add_or_compare(
    known: dict[str, str], item: NewItem, file: str, new: list[NewItem], problems: list[Problem]
) -> None:
    stored = known.get(item.key)
    if stored is None:
        new.append(item)
    elif stored != setup.as_text(item.payload):
        problems.append(
            Problem(
                file,
                None,
                f"item {item.key!r} is not what it was when the study started",
                "Put it back, or give the changed item a new id: answers belong to the item that was shown.",
                json.dumps(item.payload, ensure_ascii=False)[:200],
            )
        )


def _settle_after_changes(tx: Tx, study: Study) -> None:
    """Apply changed settings to what was judged before."""
    if setup.setting_value(tx, "unsettled") != "yes":
        return
    for stage in study.stages.values():
        labels.set_wanted_of_unjudged(tx, stage.id, stage.settings.judgments.min)
        for group_key in labels.judged_groups(tx, stage.id):
            settle_group(tx, study, stage, group_key)
            if stage.feeds:
                # A later stage may be new, or ask for another confidence than before.
                derive_from_group(tx, study, stage, group_key)
    setup.set_setting(tx, "unsettled", "no")
