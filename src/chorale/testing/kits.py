"""The contract of kits: every declared part exists and has the right type."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from chorale.cli.parameters import command_of
from chorale.contract import Task
from chorale.folder.reading import check_folder
from chorale.folder.templates import templates_of
from chorale.lazy import load
from chorale.metrics.family import Family
from chorale.metrics.score import Score
from chorale.registry import Command, Kit, Place
from chorale.testing.checks import check_task
from chorale.testing.subject import Check, ContractError, check_all, promised

_SINGLE_PARTS: Mapping[str, Place] = {
    "site": "chorale.web.parts:SitePart",
    "audit": "chorale.audit.parts:AuditPart",
    "work": "chorale.engine.parts:WorkPart",
}
"""Parts that are objects, with their classes; loaded only for kits that have them."""
_FUNCTIONS = ("plain_stage", "starter", "for_scripts", "own_table")
_PAPER: Place = "chorale.reproduce:Paper"
_EXPORT: Place = "chorale.exchange.export_format:ExportFormat"


class KitCheck(Check[Kit]):
    """One promise of a kit."""

    def __call__(self, kit: Kit) -> None:
        self.check("kit", kit.name, lambda: kit)


def _description(kit: Kit) -> None:
    promised(bool(kit.name.strip()), "it has no name")
    promised(bool(kit.summary.strip()), "it has no summary")
    promised("\n" not in kit.summary, "its summary has several lines")


def _tasks(kit: Kit) -> None:
    for name, task in _loaded("task", kit.tasks):
        promised(isinstance(task, Task), f"the task `{name}` is {type(task).__name__}, not a chorale.contract.Task")
        promised(task.name == name, f"the task `{name}` has the name `{task.name}`")
        check_task(task)


def _families(kit: Kit) -> None:
    for name, family in _loaded("metric family", kit.families):
        kind = type(family).__name__
        promised(isinstance(family, Family), f"the metric family `{name}` is {kind}, not a chorale.metrics.Family")
        promised(family.name == name, f"the metric family `{name}` has the name `{family.name}`")
        promised(name.isidentifier(), f"`chorale.evaluate.{name}` is not a valid name in Python: change it")
        promised(bool(family.summary), f"the metric family `{name}` has no summary")
        if family.example is not None:
            _score_example(family, *family.example)


def _score_example(family: Family, system: str, gold: str) -> None:
    with TemporaryDirectory() as folder:
        files = tuple(Path(folder, name + family.example_ending) for name in ("system", "gold"))
        for file, text in zip(files, (system, gold), strict=True):
            file.write_text(text, "utf-8")
        score = family.score(*files, against=files[0], resamples=100)
    promised(isinstance(score, Score), f"the example of `{family.name}` returns {type(score).__name__}, not a Score")
    promised(bool(score.values), f"the example of `{family.name}` has no values")
    promised(set(score.intervals) >= {score.name}, f"{score.name} of the example of `{family.name}` has no interval")
    promised(bool(score.signature), f"the example of `{family.name}` has no signature")


def _functions(kit: Kit) -> None:
    kinds: dict[str, Mapping[str, Place]] = {
        "reader": kit.readers,
        "aggregation method": kit.aggregators,
        "tokenizer": kit.tokenizers,
        "report section": {section.name: section.place for section in kit.sections},
        "part": {name: place for name in _FUNCTIONS if (place := getattr(kit, name)) is not None},
    }
    for kind, places in kinds.items():
        for name, function in _loaded(kind, places):
            promised(callable(function), f"the {kind} `{name}` is {type(function).__name__}, not a function")


def _sections(kit: Kit) -> None:
    names = [section.name for section in kit.sections]
    promised(len(set(names)) == len(names), f"two report sections have the same name: {', '.join(names)}")
    for section in kit.sections:
        promised(bool(section.title), f"the report section `{section.name}` has no title")
        others = ", ".join(sorted(section.tasks - set(kit.tasks)))
        promised(not others, f"the report section `{section.name}` is about tasks that the kit does not have: {others}")


def _commands(kit: Kit) -> None:
    for command in kit.commands:
        called = " ".join(("chorale", *command.path))
        promised(bool(command.path) and all(command.path), f"a command has no name: its path is {command.path!r}")
        promised(bool(command.summary), f"`{called}` has no summary")
        if isinstance(command, Command):
            ((_, function),) = _loaded("command", {called: command.place})
            first = (function.__doc__ or "").strip().partition("\n")[0]
            promised(
                first == command.summary,
                f"the summary of `{called}` is {command.summary!r}, and its function's docstring begins with {first!r}",
            )
            command_of(function, command.path[-1])


def _templates(kit: Kit) -> None:
    if kit.templates is None:
        return
    folders = templates_of(kit)
    promised(bool(folders), f"no folder in {kit.templates} has a study.toml")
    names = [folder.name for folder in folders]
    promised(
        kit.usual_template in (None, *names), f"its default template `{kit.usual_template}` does not exist in the kit"
    )
    for folder in folders:
        problems = check_folder(folder)[1]
        promised(not problems, f"the template `{folder.name}` has problems: {'; '.join(map(str, problems))}")


def _parts(kit: Kit) -> None:
    kinds = {name: (place, _SINGLE_PARTS[name]) for name in _SINGLE_PARTS if (place := getattr(kit, name)) is not None}
    kinds |= {f"paper {name}": (place, _PAPER) for name, place in kit.papers.items()}
    kinds |= {f"export {name}": (place, _EXPORT) for name, place in kit.exports.items()}
    for name, (place, kind) in kinds.items():
        ((_, part),) = _loaded("part", {name: place})
        shown = kind.replace(":", ".")
        promised(isinstance(part, load(kind)), f"the part `{name}` is {type(part).__name__}, not a {shown}")


def _loaded(kind: str, places: Mapping[str, Place]) -> Iterator[tuple[str, Any]]:
    for name, place in places.items():
        try:
            yield name, load(place)
        except (ImportError, AttributeError) as error:
            raise ContractError(f"the {kind} `{name}` is not at {place}: {error}") from error


KIT_CHECKS: tuple[KitCheck, ...] = (
    KitCheck("description", "It has a name, and a summary of one line.", _description),
    KitCheck("tasks", "Its tasks load, have the names it declares, and keep the promises of tasks.", _tasks),
    KitCheck("families", "Its metric families load and score their own examples.", _families),
    KitCheck("functions", "Its readers, aggregation methods and report sections load and can be called.", _functions),
    KitCheck("sections", "Its report sections are about its own tasks.", _sections),
    KitCheck("commands", "Its commands load, and their summaries are the first lines of docstrings.", _commands),
    KitCheck("templates", "Its templates pass `chorale check`.", _templates),
    KitCheck("parts", "Its other parts load and have the right class.", _parts),
)
"""Every promise of a kit, for `pytest.mark.parametrize("check", KIT_CHECKS, ids=repr)`."""


def check_kit(kit: Kit) -> None:
    """Run all checks; ContractError lists every broken promise. The kit must be installed."""
    check_all(KIT_CHECKS, kit)
