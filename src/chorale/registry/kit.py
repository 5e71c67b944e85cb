"""The declaration of a kit: everything that a package adds to Chorale. Its parts are loaded when they are needed.

Chorale's own kits and those of other packages register the same kind of object, as an entry point of the group
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
    """The names of its groups, then its own name: `("evaluate", "rules")`."""
    summary: str
    """What it does: the first line of the function's docstring."""
    place: Place
    """The location of the function. Its module is imported when the command is called."""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """A group of commands, such as `chorale evaluate`."""

    path: tuple[str, ...]
    """The names of its outer groups, then its own name. Several packages can declare the same group."""
    summary: str
    """What its commands have in common."""
    usual: str | None = None
    """The default command, used if no command of the group is named."""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A section of `chorale report` about one kind of work."""

    name: str
    """Its key in the report's JSON."""
    title: str
    """Its heading."""
    tasks: frozenset[str]
    """The report includes the section if the study has a stage with one of these tasks."""
    place: Place
    """The location of a function that takes a transaction, the study and a `Resampling` (settings for confidence
    intervals). It returns a `chorale.report.SectionContent`, or None if there is nothing to report yet."""
    by_arm: bool = False
    """Whether the section compares the arms (conditions) of a trial. If so, it is shown only on request."""
    in_status: bool = False
    """Whether `chorale status` also shows its tables."""


@dataclass(frozen=True, slots=True)
class Kit:
    """Everything that belongs to one kind of work."""

    name: str
    """A unique name."""
    summary: str
    """What the kit is for, in one line."""
    tasks: Mapping[str, Place] = field(default_factory=dict)
    """`Task` objects, by the names that study files use."""
    commands: tuple[Command | CommandGroup, ...] = ()
    """Commands of `chorale`: `Command` and `CommandGroup` objects."""
    families: Mapping[str, Place] = field(default_factory=dict)
    """Metric families (`chorale.metrics.Family`), by the name that `chorale evaluate` and `chorale.evaluate` use.

    A family without a command of its own gets `chorale evaluate NAME SYSTEM GOLD`.
    """
    readers: Mapping[str, Place] = field(default_factory=dict)
    """Readers of judgments files, by the name that `--reader` uses: functions from a path to rows of task, worker and
    label. The functions raise UserError for an invalid file."""
    aggregators: Mapping[str, Place] = field(default_factory=dict)
    """Aggregation methods, by the name that `chorale aggregate --method` uses: functions from
    `chorale.metrics.judgments.Judgments`, options and a progress callback to an `Aggregation`."""
    tokenizers: Mapping[str, Place] = field(default_factory=dict)
    """Tokenizers, by the name that a form's `tokenizer` uses: functions from a text to its tokens in order, spelled as
    in the text.
    """
    sections: tuple[ReportSection, ...] = ()
    """Sections of `chorale report`: `ReportSection` objects."""
    templates: Path | None = None
    """A folder with one folder per template of `chorale new`."""
    catalogues: Path | None = None
    """A folder with translations of the pages and messages of the kit's tasks: one `.po` file per language."""
    gallery: Path | None = None
    """A folder with one folder per complete example study. `chorale new` lists them as `gallery/NAME`."""
    usual_template: str | None = None
    """The kit's template that `chorale new` suggests. Only one installed kit can have it."""
    papers: Mapping[str, Place] = field(default_factory=dict)
    """Reproductions (`chorale.reproduce.Paper`), by the name that `chorale reproduce` uses."""
    site: Place | None = None
    """A `chorale.web.parts.SitePart`: pages, and work to do while the site runs."""
    exports: Mapping[str, Place] = field(default_factory=dict)
    """Tables that every study can be exported as (`chorale.exchange.export_format.ExportFormat`), by the name that
    `chorale export --format` uses. Tables about one task belong to the task."""
    work: Place | None = None
    """A `chorale.engine.parts.WorkPart`: tables in the database, and work other than the items of a stage."""
    plain_stage: Place | None = None
    """Makes a stage for `chorale import judgments`: a function from a `chorale.exchange.imported_files.StagedBatch`
    and its items' columns to the name of a suitable task, its options as TOML, and notes to print. Only one installed
    kit can have it."""
    batch_kinds: tuple[Place, ...] = ()
    """`chorale.exchange.batch_kinds.BatchKind` objects: files of finished work from which `chorale import` makes a
    stage with a task of the kit.
    """
    starter: Place | None = None
    """A function from a template's folder and the user's files (`chorale new --html FILE --csv FILE`) to the names and
    contents of a study's files.
    """
    for_scripts: Place | None = None
    """A function from a template's folder to the names and contents of a study's files, for `chorale new
    --scripts-only`. Scripts create all work of such a study.
    """
    own_table: Place | None = None
    """Called by `chorale new --from FILE`: a function that returns the names and contents of a study's files. It takes
    a `chorale.folder.own_table.OwnTable`, the name of its text column, the name of its ID column (or None), a question
    and its labels. Only one installed kit can have it."""
    audit: Place | None = None
    """A `chorale.audit.parts.AuditPart`: what `chorale verify` recomputes in addition to its checks of every study."""
