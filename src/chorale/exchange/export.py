"""Exports of a study: tables for people and programs.

Every table is written row by row from one consistent view of the database, after all labels have been updated. A file
is written completely or not at all. Besides general tables, a study has those of its tasks.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from chorale.contract import Task, TaskExport, installed_tasks
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_everything
from chorale.engine.simulation import has_simulated_people
from chorale.exchange import export_fields, export_models, export_rows
from chorale.exchange.export_columns import response_columns, response_lines
from chorale.exchange.export_first import FIRST_COLUMNS
from chorale.exchange.export_folders import FOLDERS, write_folder
from chorale.exchange.export_format import ExportFormat, Rows, Writer
from chorale.exchange.label_studio import label_studio_rows, write_with_config
from chorale.files import tables
from chorale.folder.reading import did_you_mean
from chorale.model import UserError
from chorale.monitor.outcomes import stage_results
from chorale.monitor.status import note_arms_shown
from chorale.monitor.suggested_answers import suggestion_rows
from chorale.monitor.writing import writing_rows
from chorale.registry import blaming, clash, exports, tasks
from chorale.store import Tx, events
from chorale.store.responses import count_responses

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""Called with the number of rows written and the total."""
_STEP = 5_000


def export_formats(study: Study) -> Mapping[str, str]:
    """The export formats of this study, each with a summary. Formats of broken kits are left out."""
    formats = {}
    for name in (*_formats(study), *exports()):
        with suppress(UserError):
            formats[name] = export_format(study, name).summary
    return formats


def export_file_name(study: Study, format_name: str) -> str:
    """The default name of a file or folder in this format. The name shows whether people are simulated."""
    name = FOLDERS[format_name].name if format_name in FOLDERS else export_format(study, format_name).file_name
    return f"simulated-{name}" if study.store.look(has_simulated_people) else name


def write_export(study: Study, format_name: str, path: Path, progress: Progress | None = None) -> int:
    """Write the study's results to a file or, for folder formats, a folder; returns the number of rows."""
    if format_name in FOLDERS:
        _refuse_clash(study, format_name)
        settle_everything(study)
        return study.store.read(lambda tx: _write_folder(tx, study, path, progress)).result()
    kind = export_format(study, format_name)
    settle_everything(study)
    return study.store.read(lambda tx: _write(tx, study, kind, path, progress)).result()


def _write_folder(tx: Tx, study: Study, path: Path, progress: Progress | None) -> int:
    formats = _formats(study)
    kinds = {**formats, "labels-parquet": replace(formats["labels"], write=tables.write_parquet)}
    if "tidy" in formats:
        kinds["tidy-parquet"] = replace(formats["tidy"], write=tables.write_parquet)
    return write_folder(study, path, lambda name, file: _write(tx, study, kinds[name], file, progress))


def write_export_within(tx: Tx, study: Study, format_name: str, path: Path) -> int:
    """Write an export in an open transaction whose labels are up to date; returns the number of rows."""
    return _write(tx, study, export_format(study, format_name), path)


OF_EVERY_DATASET = ("labels", "jsonl")
"""Formats that every published dataset has, even if there are no rows yet."""


def dataset_formats(study: Study, stages: Collection[str]) -> list[str]:
    """The formats of a published dataset: tables of these stages' tasks, labels per field, labels, responses."""
    formats = _formats(study)
    of_tasks = [
        name for name, (stage, _) in zip(formats, _tables_of_stages(study), strict=False) if stage.name in stages
    ]
    return [*of_tasks, *(["tidy-labels"] if "tidy-labels" in formats else []), *OF_EVERY_DATASET]


ASKED_BY = "CHORALE_ASKED_BY"
"""The environment variable that names the person for whom the console runs a command, for the activity log."""


def note_export(tx: Tx, study: Study, format_name: str, by: str) -> None:
    """Log the export, since it reveals the arms."""
    events.record(tx, study.clock(), "exported", {"by": by, "format": format_name})
    if study.settings.arms is not None:
        note_arms_shown(tx, study, by, f"an export: {format_name}")


def _formats(study: Study) -> Mapping[str, ExportFormat]:
    """The general formats and those of the study's tasks. Formats of kits are loaded when they are used."""
    of_stages = _tables_of_stages(study)
    count = Counter(export.name for _, export in of_stages)
    # If several stages have the table, each name includes the stage.
    of_tasks = {
        export.name if count[export.name] == 1 else f"{export.name}-{stage.name}": _of_task(
            stage, export, alone=count[export.name] == 1
        )
        for stage, export in of_stages
    }
    arm = () if study.settings.arms is None else ("arm",)
    first = FIRST_COLUMNS if any(stage.asks_model_first for stage in study.stages.values()) else ()
    more: dict[Rows, tuple[str, ...]] = {export_rows.response_rows: arm, export_rows.label_rows: (*arm, *first)}
    of_every = {
        name: replace(kind, columns=(*kind.columns, *more.get(kind.rows, ())))
        for name, kind in _OF_EVERY_STUDY.items()
        if name != "arms" or arm
    }
    of_every["crowdkit"] = replace(of_every["crowdkit"], columns=export_rows.triple_columns(study))
    of_every["labelstudio"] = replace(
        of_every["labelstudio"], write=lambda _, rows, path: write_with_config(study, iter(rows), path)
    )
    return {**of_tasks, **(_with_fields(study, of_every) if export_fields.stages_with_fields(study) else of_every)}


def _tables_of_stages(study: Study) -> list[tuple[RunningStage, TaskExport]]:
    return [(stage, export) for stage in study.stages.values() for export in stage.task.exports]


def _with_fields(study: Study, formats: Mapping[str, ExportFormat]) -> dict[str, ExportFormat]:
    """The formats of a study whose answers have fields: with a column for each, and as tidy rows."""
    seen = export_fields.item_columns(study)
    more: dict[Rows, tuple[str, ...]] = {
        export_rows.response_rows: (*seen, *export_fields.answer_columns(study)),
        export_rows.label_rows: (*seen, *export_fields.field_columns(study, "label", sure=True)),
    }
    wider = {name: replace(kind, columns=(*kind.columns, *more.get(kind.rows, ()))) for name, kind in formats.items()}
    return {
        **wider,
        "tidy": ExportFormat(
            "annotations with the item's text, one row per value of each field, as CSV",
            "tidy.csv",
            export_fields.tidy_answer_columns(study),
            export_fields.tidy_answers,
            tables.write_csv,
        ),
        "tidy-labels": ExportFormat(
            "aggregated labels with the item's text, one row per value of each field, as CSV",
            "tidy-labels.csv",
            export_fields.tidy_label_columns(study),
            export_fields.tidy_labels,
            tables.write_csv,
        ),
    }


def _of_task(stage: RunningStage, export: TaskExport, *, alone: bool) -> ExportFormat:
    file = Path(export.file_name)
    writer = _WRITERS[file.suffix]
    more = export.more_columns
    return ExportFormat(
        export.summary if alone else f"{export.summary} (stage {stage.name})",
        file.name if alone else f"{file.stem}-{stage.name}{file.suffix}",
        export.columns,
        lambda tx, study: export.rows(stage_results(tx, study, stage)),
        writer,
        None if more is None else lambda tx, study: more(stage_results(tx, study, stage)),
        export.describes,
        next(iter(tasks().kits_with(stage.task.name)), None),
    )


def export_format(study: Study, name: str) -> ExportFormat:
    """The table that this name stands for. Raises UserError if there is none, or several."""
    _refuse_clash(study, name)
    formats, of_kits = _formats(study), exports()
    if name in formats:
        return formats[name]
    if name in of_kits:
        kind: ExportFormat = of_kits[name]
        return replace(kind, kit=of_kits.kit_of(name))
    several = [each for each in formats if each.startswith(f"{name}-") and each[len(name) + 1 :] in study.stages]
    if several:
        raise UserError(f"Several stages have a table `{name}`. Choose one of {', '.join(several)}.")
    if name == "arms":
        raise UserError(f"This study has no arms. It can be exported as {', '.join((*formats, *of_kits, *FOLDERS))}.")
    task = _task_with(name)
    if task is not None:
        raise UserError(
            f"`{name}` is a table of `{task}` stages, and this study has none. "
            f"It can be exported as {', '.join((*formats, *of_kits, *FOLDERS))}."
        )
    raise UserError(f"There is no export format `{name}`. {did_you_mean(name, [*formats, *of_kits, *FOLDERS])}")


def _refuse_clash(study: Study, name: str) -> None:
    own = name in _OF_EVERY_STUDY or name in FOLDERS
    with_table = {task.name for task in (stage.task for stage in study.stages.values()) if _has_table(task, name)}
    kits = [*exports().kits_with(name), *(kit for task in sorted(with_table) for kit in tasks().kits_with(task))]
    if len(kits) + own > 1 and (own or exports().kits_with(name)):
        raise clash("export format", name, kits, own=own)


def _task_with(table: str) -> str | None:
    """The task with a table of this name. Tasks that can't be loaded are skipped."""
    every = installed_tasks()
    for name in every:
        with suppress(UserError):
            if _has_table(every[name], table):
                return name
    return None


def _has_table(task: Task, name: str) -> bool:
    return any(export.name == name for export in task.exports)


def _write(tx: Tx, study: Study, kind: ExportFormat, path: Path, progress: Progress | None = None) -> int:
    counter = Counter[str]()
    expected = count_responses(tx) if progress is not None else 0

    def count(more: int) -> None:
        before = counter["rows"]
        counter["rows"] += more
        if progress is not None and counter["rows"] // _STEP > before // _STEP:
            progress(counter["rows"], max(expected, counter["rows"]))

    def counted(values: Iterable[T], size: Callable[[T], int]) -> Iterator[T]:
        for value in values:
            count(size(value))
            yield value

    with blaming(f"export {kind.file_name} of the kit `{kind.kit}`") if kind.kit else nullcontext():
        try:
            more = () if kind.more_columns is None else kind.more_columns(tx, study)
            names = (*kind.columns, *more)
            if kind.write is tables.write_parquet and kind.rows is export_rows.response_rows:
                columns = counted(response_columns(tx, study, names), lambda batch: len(batch[0]))
                tables.write_parquet_columns(names, columns, path)
            elif kind.write is _write_lines and kind.rows is export_rows.response_rows:
                lines = counted(response_lines(tx, study, names), len)
                tables.write_lines(lines, path)
            else:
                kind.write(names, counted(kind.rows(tx, study), lambda _: 1), path)
        except OSError as error:
            raise UserError(f"{path} can't be written: {error.strerror or error}. Choose another location.") from error
    return counter["rows"]


def _write_lines(_columns: Sequence[str], rows: Iterable[tables.TableRow], path: Path) -> None:
    tables.write_jsonl(rows, path)


def _write_files(_columns: Sequence[str], rows: Iterable[tables.TableRow], path: Path) -> None:
    tables.write_zip(rows, path)


_WRITERS: Mapping[str, Writer] = {
    ".csv": tables.write_csv,
    ".tsv": tables.write_tsv,
    ".jsonl": _write_lines,
    ".zip": _write_files,
}
_RESPONSE_COLUMNS = (
    *("response", "stage", "task", "task_version", "item", "group", "payload", "worker", "kind", "answer", "counts"),
    *("submitted_at", "submitted_at_ms", "duration_ms", "gold_answer", "gold_score"),
    *("item_label", "item_confidence", "item_released", "item_state", "item_sources", "consent_version"),
)


def _of_responses(as_what: str, ending: str, write: Writer) -> ExportFormat:
    summary = f"every response with its item, worker, time and grade, {as_what}"
    return ExportFormat(summary, f"responses.{ending}", _RESPONSE_COLUMNS, export_rows.response_rows, write)


_OF_EVERY_STUDY: Mapping[str, ExportFormat] = {
    "jsonl": _of_responses("one JSON object per line", "jsonl", _write_lines),
    "csv": _of_responses("as CSV", "csv", tables.write_csv),
    "parquet": _of_responses("as Parquet", "parquet", tables.write_parquet),
    "labels": ExportFormat(
        "every item with its aggregated label and confidence, as CSV",
        "labels.csv",
        (
            *("stage", "item", "group", "payload", "label", "confidence", "judgments", "released", "state"),
            *("is_gold", "sources"),
        ),
        export_rows.label_rows,
        tables.write_csv,
    ),
    "crowdkit": ExportFormat(
        "annotations for crowd-kit, as CSV: task, worker and label, or one column per field of a form instead of label",
        "crowdkit.csv",
        ("task", "worker", "label"),
        export_rows.triples,
        tables.write_csv,
    ),
    "labelstudio": ExportFormat(
        "every item with all its answers, as tasks for Label Studio, as JSON, with a labelling configuration",
        "labelstudio.json",
        ("id", "data", "annotations", "predictions"),
        label_studio_rows,
        lambda _, rows, path: tables.write_json_list(rows, path),
    ),
    "workers": ExportFormat(
        "every worker in every stage: gold accuracy, work, pay and hourly wage, as CSV",
        "workers.csv",
        (
            *("worker", "stage", "standing", "trust", "gold_answered", "gold_right"),
            *("judgments", "paid", "currency", "worked_ms", "hourly_wage"),
        ),
        export_rows.worker_rows,
        tables.write_csv,
    ),
    "ledger": ExportFormat(
        "every entry of the ledger, newest first, as CSV",
        "ledger.csv",
        ("entry", "at", "at_ms", "worker", "stage", "kind", "amount", "currency", "reason", "cause"),
        export_rows.ledger_rows,
        tables.write_csv,
    ),
    "qualifications": ExportFormat(
        "every qualification of a worker, with its gate and score, as CSV",
        "qualifications.csv",
        ("worker", "qualification", "at", "at_ms", "gate", "score"),
        export_rows.qualification_rows,
        tables.write_csv,
    ),
    "arms": ExportFormat(
        "every random assignment to an arm, with its stratum, number and block and the seed, as CSV",
        "arms.csv",
        ("worker", "arm", "at", "at_ms", "stratum", "number", "block", "seed"),
        export_rows.arm_rows,
        tables.write_csv,
    ),
    "consents": ExportFormat(
        "every consent, with the version of the form and its text, as CSV",
        "consents.csv",
        ("worker", "version", "at", "at_ms", "sha256", "text"),
        export_rows.consent_rows,
        tables.write_csv,
    ),
    "grades": ExportFormat(
        "every grade of an answer, by gold or by people, as CSV",
        "grades.csv",
        (
            *("grade", "response", "worker", "stage", "source"),
            *("score", "criteria", "reasons", "graded_at", "graded_at_ms"),
        ),
        export_rows.grade_rows,
        tables.write_csv,
    ),
    "calls": ExportFormat(
        "every call to a model: version, prompt hash, output, tokens, time and exact price, one JSON object per line",
        "calls.jsonl",
        export_models.CALL_COLUMNS,
        export_models.call_rows,
        _write_lines,
    ),
    "model-answers": ExportFormat(
        "every answer of a model, counted or kept separate, as CSV",
        "model-answers.csv",
        export_models.ANSWER_COLUMNS,
        export_models.answer_rows,
        tables.write_csv,
    ),
    "suggestions": ExportFormat(
        "every answer in stages where a model suggests answers, with the suggestion, as CSV",
        "suggestions.csv",
        (
            *("response", "stage", "item", "worker", "kind", "suggestion", "wrong_on_purpose", "model_answer"),
            *("answer", "follows", "suggestion_is_right", "right", "duration_ms"),
        ),
        suggestion_rows,
        tables.write_csv,
    ),
    "writing": ExportFormat(
        "how every answer was typed, if the study records it, as CSV",
        "writing.csv",
        (
            *("response", "stage", "item", "worker", "characters", "pasted", "typing_ms", "rhythm", "left", "away_ms"),
            *("model_closeness", "near_copies"),
        ),
        writing_rows,
        tables.write_csv,
    ),
    "messages": ExportFormat(
        "every message to a worker, as CSV",
        "messages.csv",
        ("message", "worker", "gate", "state", "written_at", "sent_at", "read_at", "title", "body"),
        export_rows.message_rows,
        tables.write_csv,
    ),
}
GENERAL_FORMATS = (*_OF_EVERY_STUDY, *sorted(exports()))
"""The names of formats available for every study."""
