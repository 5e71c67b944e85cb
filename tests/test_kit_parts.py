"""What kits bring to a study: tables, promised money; names that clash, and parts that fail while they run."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from fastapi import APIRouter
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table, Text, inspect, select, text

from chorale.cli.groups import loaded_command
from chorale.engine import paying
from chorale.engine.parts import WorkPart
from chorale.engine.running import Study
from chorale.exchange.export import export_formats, write_export
from chorale.exchange.export_format import ExportFormat
from chorale.files.tables import write_csv
from chorale.folder.templates import usual_template
from chorale.metrics.reading.judged import Reading
from chorale.metrics.resampling import Resampling
from chorale.model import UserError
from chorale.registry import Command, Kit, ReportSection, installed, only
from chorale.report.document import SectionContent
from chorale.report.kit_sections import kit_sections
from chorale.store import Store, Tx, open_memory_store, open_store, store_url
from chorale.store.kit_tables import KitTables, are_current, bring_up_to_date
from chorale.store.schema import worker
from chorale.web.app import create_app
from chorale.web.parts import SitePart
from chorale.web.serving import Site
from conftest import StudyMaker

REGISTRY: Any = importlib.import_module("chorale.registry.installed")
HERE = __name__
MEANINGFUL, ENTAILMENT = "rules-meaningful", "rules-entailment"
WithKits = Callable[..., None]


@pytest.fixture
def with_kits(monkeypatch: pytest.MonkeyPatch) -> Iterator[WithKits]:
    """Installs kits in the place of `rules`, whose tasks the study of the tests has, or beside it."""
    kinds = ("tasks", "families", "readers", "aggregators", "tokenizers", "papers", "exports")
    caches = [getattr(REGISTRY, name) for name in kinds]

    def install(*kits: Kit) -> None:
        there = installed()
        all_kits = {**there.kits, **{kit.name: kit for kit in kits}}
        if any(kit.tasks for kit in kits):
            del all_kits["rules"]
        monkeypatch.setattr(REGISTRY, "installed", lambda: replace(there, kits=all_kits))
        for cached in caches:
            cached.cache_clear()

    yield install
    for cached in caches:
        cached.cache_clear()


def fails(*_: Any) -> Any:
    raise RuntimeError("out of order")


def nothing(*_: Any) -> Any:
    return iter(())


def content(*_: Any) -> SectionContent:
    return SectionContent([], {"rows": 3})


FAILING = ExportFormat("It fails.", "failing.csv", ("a",), fails, write_csv)
EMPTY = ExportFormat("It has nothing.", "empty.csv", ("a",), nothing, write_csv)
WORK = WorkPart(promised=lambda _tx, _now: (70, 2))


def kit(name: str, *tasks: str, **parts: Any) -> Kit:
    return Kit(name, "A test.", tasks={task: installed().kits["rules"].tasks[task] for task in tasks}, **parts)


# Tables


def first_tables() -> MetaData:
    metadata = MetaData()
    columns: list[Column[int]] = [Column("id", Integer, primary_key=True), Column("worker_id", ForeignKey(worker.c.id))]
    Table("ranking_vote", metadata, *columns)
    return metadata


def later_tables() -> MetaData:
    metadata = first_tables()
    metadata.tables["ranking_vote"].append_column(Column("note", Text))
    return metadata


def add_note(tx: Tx) -> None:
    tx.execute(text("ALTER TABLE ranking_vote ADD COLUMN note TEXT"))


FIRST = {"ranking": KitTables(first_tables())}
LATER = {"ranking": KitTables(later_tables(), [add_note])}


def columns_of(store: Store) -> set[str]:
    return store.read(lambda tx: {column["name"] for column in inspect(tx).get_columns("ranking_vote")}).result()


def open_on(tmp_path: Path, database: str | None) -> Store:
    return open_store(store_url(database, tmp_path / "study.db"))


def test_tables_of_a_kit_are_made_and_changed_once(tmp_path: Path, database: str | None) -> None:
    store = open_on(tmp_path, database)
    try:
        assert not store.read(lambda tx: are_current(tx, FIRST)).result()
        store.write(lambda tx: bring_up_to_date(tx, FIRST)).result()
        assert columns_of(store) == {"id", "worker_id"}
        assert store.read(lambda tx: are_current(tx, FIRST)).result()
        assert not store.read(lambda tx: are_current(tx, LATER)).result()
        for _ in range(2):
            store.write(lambda tx: bring_up_to_date(tx, LATER)).result()
            assert columns_of(store) == {"id", "worker_id", "note"}
        with pytest.raises(UserError, match="newer version of the kit `ranking`"):
            store.write(lambda tx: bring_up_to_date(tx, FIRST)).result()
    finally:
        store.close()


def test_a_new_database_has_the_tables_as_they_are_now() -> None:
    store = open_memory_store()
    store.do(lambda tx: bring_up_to_date(tx, LATER))
    assert columns_of(store) == {"id", "worker_id", "note"}
    store.close()


TABLES = WorkPart(FIRST["ranking"])


def test_tables_are_there_in_studies_that_use_the_kit(make_study: StudyMaker, with_kits: WithKits) -> None:
    with_kits(kit("ranking", MEANINGFUL, ENTAILMENT, work=f"{HERE}:TABLES"), kit("unused", work="nowhere:WORK"))
    study = make_study()
    assert list(study.work_parts) == ["ranking"]
    votes = select(FIRST["ranking"].metadata.tables["ranking_vote"])
    assert study.store.read(lambda tx: tx.execute(votes).all()).result() == []


def test_the_budget_covers_what_a_kit_has_promised(make_study: StudyMaker, with_kits: WithKits) -> None:
    with_kits(kit("promising", MEANINGFUL, ENTAILMENT, work=f"{HERE}:WORK"))
    study = make_study()
    pay = study.settings.pay.model_copy(update={"budget": 10_000})
    study = replace(study, settings=study.settings.model_copy(update={"pay": pay}))
    assert study.store.read(lambda tx: paying.left(tx, study)).result() == 10_000 - 70


# Names that clash, and parts that fail


def section(name: str, function: str) -> ReportSection:
    return ReportSection(name, "A section", frozenset({ENTAILMENT}), f"{HERE}:{function}", in_status=True)


def test_sections_that_fail_or_clash_leave_the_others(make_study: StudyMaker, with_kits: WithKits) -> None:
    with_kits(
        kit(
            *("one", MEANINGFUL),
            sections=(section("failing", "fails"), section("same", "content"), section("good", "content")),
        ),
        kit("two", ENTAILMENT, sections=(section("same", "content"), section("agreement", "content"))),
    )
    study = make_study()
    made, problems = study.store.read(
        lambda tx: kit_sections(tx, study, Resampling(), {"agreement"}, with_arms=False)
    ).result()
    assert {each.name: each.json for each in made} == {"failing": None, "good": {"rows": 3}}
    assert problems == [
        "Several kits have the report section `same`: one, two. Uninstall all but one of the packages they come from.",
        "Several packages have the report section `agreement`: Chorale itself, two. Uninstall the package of the kit.",
        "The report section `failing` of the kit `one` failed: RuntimeError: out of order. "
        "Repair or uninstall the package it comes from.",
    ]


def asks_wrongly(tx: Tx, _study: Study, _resampling: Resampling) -> SectionContent | None:
    tx.execute(text("SELECT no_such_column FROM worker"))
    return None


def asks(tx: Tx, _study: Study, _resampling: Resampling) -> SectionContent | None:
    return SectionContent([], {"people": tx.execute(text("SELECT count(*) FROM worker")).scalar()})


def test_a_section_that_fails_in_the_database_leaves_the_others(make_study: StudyMaker, with_kits: WithKits) -> None:
    """On PostgreSQL a failed statement ends the transaction that the other sections read in."""
    failing = kit("one", MEANINGFUL, sections=(section("wrong", "asks_wrongly"), section("good", "asks")))
    with_kits(failing, kit("two", ENTAILMENT))
    study = make_study()
    made, [problem] = study.store.read(lambda tx: kit_sections(tx, study, Resampling(), (), with_arms=False)).result()
    assert {each.name: each.json for each in made} == {"wrong": None, "good": {"people": 0}}
    assert problem.startswith("The report section `wrong` of the kit `one` failed")


def breaks() -> None:
    """Break."""
    raise KeyError("left out")


def test_a_command_of_a_kit_that_fails_is_named_with_the_kit(with_kits: WithKits) -> None:
    spec = Command(("break",), "Break.", f"{HERE}:breaks")
    with_kits(Kit("one", "A test.", commands=(spec,)))
    done = CliRunner().invoke(loaded_command(spec, "break"))
    assert isinstance(done.exception, UserError)
    assert done.exception.message.startswith(
        "The command `chorale break` of the kit `one` failed: KeyError: 'left out'."
    )


def test_a_part_of_the_site_that_fails_is_named_with_the_kit(make_study: StudyMaker, with_kits: WithKits) -> None:
    def add_routes(_router: APIRouter, _site: Site) -> None:
        raise KeyError("left out")

    SITES["one"] = SitePart("one", add_routes=add_routes)
    with_kits(kit("one", MEANINGFUL, site=f"{HERE}:one"), kit("two", ENTAILMENT))
    with pytest.raises(UserError, match=r"The part of the site of the kit `one` failed: KeyError: 'left out'"):
        create_app(make_study())


def test_exports_that_fail_or_clash_are_refused(make_study: StudyMaker, with_kits: WithKits, tmp_path: Path) -> None:
    with_kits(
        Kit("one", "A test.", exports={"failing": f"{HERE}:FAILING", "csv": f"{HERE}:EMPTY", "same": f"{HERE}:EMPTY"}),
        Kit("two", "A test.", exports={"same": f"{HERE}:EMPTY", "lost": f"{HERE}:LOST", "zeichner": f"{HERE}:EMPTY"}),
        Kit("three", "A test.", exports={"empty": f"{HERE}:EMPTY", "huggingface": f"{HERE}:EMPTY"}),
    )
    study = make_study()
    for name, message in {
        "failing": "The export failing.csv of the kit `one` failed: RuntimeError: out of order.",
        "csv": "Several packages have the export format `csv`: Chorale itself, one.",
        "huggingface": "Several packages have the export format `huggingface`: Chorale itself, three.",
        "same": "Several kits have the export format `same`: one, two.",
        "zeichner": "Several kits have the export format `zeichner`: two, rules.",
        "lost": "The export format `lost` of the kit `two` could not be loaded: AttributeError",
    }.items():
        with pytest.raises(UserError, match=r"^") as refused:
            write_export(study, name, tmp_path / "out")
        assert refused.value.message.startswith(message)
    assert write_export(study, "empty", tmp_path / "out") == 0
    assert {"empty", "jsonl", "failing"} <= export_formats(study).keys()
    assert export_formats(study).keys().isdisjoint({"csv", "same", "lost", "zeichner"})


def page(folder: Path, name: str) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("A page.", "utf-8")
    return folder


SITES: dict[str, SitePart] = {}


def __getattr__(name: str) -> SitePart:
    if name not in SITES:
        raise AttributeError(name)
    return SITES[name]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("a", "a", "Several kits have the static folder `a`: one, two."),
        ("icons", "b", "Several packages have the static folder `icons`: Chorale itself, one."),
        ("a/x.html", "b/x.html", "Several kits have the page template `x.html`: one, two."),
        ("a/error.html", "b", "Several packages have the page template `error.html`: Chorale itself, one."),
    ],
)
def test_parts_of_the_site_that_clash_are_refused(
    make_study: StudyMaker, with_kits: WithKits, tmp_path: Path, first: str, second: str, message: str
) -> None:
    for kit_name, given in {"one": first, "two": second}.items():
        name, _, file = given.partition("/")
        SITES[kit_name] = SitePart(name, templates=page(tmp_path / kit_name, file) if file else None)
    with_kits(kit("one", MEANINGFUL, site=f"{HERE}:one"), kit("two", ENTAILMENT, site=f"{HERE}:two"))
    study = make_study()
    with pytest.raises(UserError, match=r"^") as refused:
        create_app(study)
    assert refused.value.message.startswith(message)


def test_a_reader_that_fails_is_named(with_kits: WithKits, tmp_path: Path) -> None:
    with_kits(Kit("one", "A test.", readers={"failing": f"{HERE}:fails"}))
    file = tmp_path / "judgments.txt"
    file.write_text("x", "utf-8")
    with pytest.raises(UserError, match=r"reader `failing` of the kit `one` failed on .*judgments.txt: RuntimeError"):
        Reading(reader="failing").file(file)


def test_what_one_kit_must_have_is_asked_for(with_kits: WithKits) -> None:
    assert only("stage", lambda each: each.plain_stage)[0] == "forms"
    assert usual_template() == "rules"
    with_kits(Kit("one", "A test.", plain_stage="nowhere:X"))
    with pytest.raises(UserError, match="several kits have one: forms, one"):
        only("stage", lambda each: each.plain_stage)
    with pytest.raises(UserError, match="no installed kit has one"):
        only("stage", lambda _: None)
