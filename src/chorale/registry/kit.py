"""What a package brings to Chorale: one declaration, whose parts are loaded when they are needed.

The kits that come with Chorale and those of other packages register the same object, as an entry point of the group
`chorale.kits`. A declaration names its parts by their places (`package.module:attribute`), so that reading it is fast.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

Place = str
"""Where a part of a kit is: `package.module:attribute`."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of `chorale`."""

    path: tuple[str, ...]
    """Its name, behind those of the groups it belongs to: `("evaluate", "rules")`."""
    summary: str
    """What it does: the first line of the function's docstring."""
    place: Place
    """Where the function is. Its module is imported when the command is named."""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """A command that has others, such as `chorale evaluate`."""

    path: tuple[str, ...]
    """Its name, behind those of the groups it belongs to. Several packages can declare the same group."""
    summary: str
    """What its commands have in common."""
    usual: str | None = None
    """The command that is meant where none of the group's is named."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of `chorale report` about one kind of work."""

    name: str
    """Its key in the report's JSON."""
    title: str
    """Its heading."""
    tasks: frozenset[str]
    """The report has the section if the study has a stage of one of these tasks."""
    place: Place
    """A function of a transaction, the study and the resampling, which returns a `chorale.report.SectionContent`, or
    None if there is nothing to report yet."""
    by_arm: bool = False
    """Whether it compares arms, which only those may see who asked for it."""
    in_status: bool = False
    """Whether `chorale status` shows its tables, too."""


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything that belongs to one kind of work."""

    name: str
    """One that no other kit has."""
    summary: str
    """What it is for, in one line."""
    tasks: Mapping[str, Place] = field(default_factory=dict)
    """`Task` objects, by the names that study files use."""
    commands: tuple[Command | CommandGroup, ...] = ()
    """`Command` and `CommandGroup` objects."""
    families: Mapping[str, Place] = field(default_factory=dict)
    """Metric families (`chorale.metrics.Family`), by the name that `chorale evaluate` and `chorale.evaluate` use.
    `chorale evaluate NAME SYSTEM GOLD` is there for a family whose kit has no command for it."""
    readers: Mapping[str, Place] = field(default_factory=dict)
    """Readers of judgments files, by the name that `--reader` uses: functions from a path to rows of task, worker and
    label. UserError says what is wrong with a file."""
    aggregators: Mapping[str, Place] = field(default_factory=dict)
    """Aggregation methods, by the name that `chorale aggregate --method` uses: functions from
    `chorale.metrics.judgments.Judgments`, options and a progress callback to an `Aggregation`."""
    tokenizers: Mapping[str, Place] = field(default_factory=dict)
    """Tokenizers, by the name that a form's `tokenizer` uses: functions from a text to its tokens in order, each as it
    is in the text."""
    sections: tuple[ReportSection, ...] = ()
    """`ReportSection` objects."""
    templates: Path | None = None
    """A folder with one folder per template of `chorale new`."""
    catalogues: Path | None = None
    """A folder with what pages and refusals of its tasks say in other languages: one `.po` file per language."""
    gallery: Path | None = None
    """A folder with one folder per complete example study. `chorale new` calls them `gallery/NAME`."""
    usual_template: str | None = None
    """The template of the kit that `chorale new` suggests. Only one installed kit can have it."""
    papers: Mapping[str, Place] = field(default_factory=dict)
    """Reproductions (`chorale.reproduce.Paper`), by the name that `chorale reproduce` uses."""
    site: Place | None = None
    """A `chorale.web.parts.SitePart`: pages, and work to do while the site runs."""
    exports: Mapping[str, Place] = field(default_factory=dict)
    """Tables that every study can be exported as (`chorale.exchange.export_format.ExportFormat`), by the name that
    `chorale export --format` uses. Tables about one task belong to the task."""
    work: Place | None = None
    """A `chorale.engine.parts.WorkPart`: tables in the database, and work that is no item of a stage."""
    plain_stage: Place | None = None
    """What `chorale import judgments` makes a stage of. A function from a `chorale.exchange.imported_files.StagedBatch`
    and its items' columns to the name of a suitable task and its options as TOML. Of all installed kits, one can have
    it."""
    batch_kinds: tuple[Place, ...] = ()
    """`chorale.exchange.batch_kinds.BatchKind` objects: files of finished work that `chorale import` makes a stage of a
    task of the kit, and not a plain one."""
    starter: Place | None = None
    """A function from a template's folder and files of the user's (`chorale new --html FILE --csv FILE`) to the names
    and contents of a study's files."""
    for_scripts: Place | None = None
    """A function from a template's folder to the names and contents of the files of a study all of whose work comes
    from programs (`chorale new --scripts-only`)."""
    own_table: Place | None = None
    """What `chorale new --from FILE` calls: a function to the names and contents of a study's files. It takes a
    `chorale.folder.own_table.OwnTable`, its columns with the texts and the IDs (or None), a question and its labels. Of
    all installed kits, one can have it."""
    audit: Place | None = None
    """A `chorale.audit.parts.AuditPart`: what `chorale verify` recomputes in addition to its checks of every study."""
