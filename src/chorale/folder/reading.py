"""Reads and checks a study folder completely, so that all problems are reported at once."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from chorale.folder.checking.content import GoldRow, StageContent, StudyFolder, TruthRow
from chorale.folder.checking.models import check_disclosure, check_models
from chorale.folder.checking.named_files import read_markdown
from chorale.folder.checking.protocols import check_protocol, check_recruiting
from chorale.folder.checking.report import SETTINGS_FILE, CheckReport, did_you_mean
from chorale.folder.checking.settings_file import read_settings, settings_in
from chorale.folder.checking.settings_shape import parsed_settings, text_at
from chorale.folder.checking.stages import read_stages
from chorale.folder.feedback import TemplateMistakeError, check_template
from chorale.model import Problem, StudySettings, UserError
from chorale.model.shared_options import with_shared_options
from chorale.present.languages import languages

__all__ = [
    "SETTINGS_FILE",
    "GoldRow",
    "ReadFolder",
    "StageContent",
    "StudyFolder",
    "TruthRow",
    "check_folder",
    "did_you_mean",
    "load_folder",
    "read_folder",
    "study_files",
]


def load_folder(path: Path) -> StudyFolder:
    """Load the study in a folder; UserError lists all its problems."""
    folder, problems = check_folder(path)
    if folder is None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise UserError(f"{path} has {count}", problems)
    return folder


def study_files(path: Path) -> list[str]:
    """The files of a study: its settings and all files they name, valid or not."""
    report = CheckReport(path)
    raw = read_settings(report)
    if raw is not None:
        _read_study(raw, report)
    return [SETTINGS_FILE, *sorted(report.named - {SETTINGS_FILE})] if (path / SETTINGS_FILE).is_file() else []


def check_folder(path: Path, text: str | None = None) -> tuple[StudyFolder | None, list[Problem]]:
    """Check a folder; returns the study or all problems, those of the study file first, then file by file.

    `text` replaces the content of the study file, to try settings without writing them.
    """
    read = read_folder(path, text)
    return read.folder, read.problems


class ReadFolder(NamedTuple):
    """The parts of a study folder that could be read."""

    folder: StudyFolder | None
    """The study, if it has no problems."""
    problems: list[Problem]
    settings: StudySettings | None
    """The settings, if the study file is valid on its own."""
    stages: tuple[StageContent, ...]
    """Stages with a valid task and options, without invalid rows."""


def read_folder(path: Path, text: str | None = None) -> ReadFolder:
    """Read a folder with all its problems; `text` replaces the content of the study file."""
    report = CheckReport(path)
    raw = read_settings(report) if text is None else settings_in(text, report)
    read = ReadFolder(None, [], None, ()) if raw is None else _read_study(raw, report)
    problems = sorted(
        report.condensed_problems(),
        key=lambda problem: (problem.file != SETTINGS_FILE, problem.file, problem.line or 0),
    )
    return read._replace(folder=None if problems else read.folder, problems=problems)


def _read_study(raw: dict[str, Any], report: CheckReport) -> ReadFolder:
    """Check as much as possible, even after errors. The study is complete only if there are no problems."""
    raw = with_shared_options(raw)
    settings = parsed_settings(StudySettings, raw, (), report)
    consent = read_markdown(text_at(raw, "study", "consent"), ("study", "consent"), report)
    contents = read_stages(raw, report)
    messages = read_gates(raw, settings, report)
    if settings is None:
        return ReadFolder(None, [], None, ())
    check_protocol(settings, contents, report)
    _check_language(settings.study.language, report)
    check_recruiting(settings, report)
    check_models(settings, [content.task for content in contents], consent, report)
    if settings.writing is not None:
        check_disclosure(("writing", "disclosure"), settings.writing.disclosure, consent, settings, report)
    stages = tuple(
        content.complete(stage)
        for content, stage in zip(contents, settings.stage, strict=True)
        if content.task is not None and content.options is not None
    )
    if report.problems:
        return ReadFolder(None, [], settings, stages)
    folder = StudyFolder(
        path=report.root,
        settings=settings,
        settings_text=report.text,
        consent=consent,
        stages=stages,
        messages=messages,
    )
    return ReadFolder(folder, [], settings, stages)


def _check_language(language: str, report: CheckReport) -> None:
    if language not in languages():
        known = ", ".join(languages())
        report.setting(
            ("study", "language"),
            "`study.language` is not a language of worker pages",
            f"Use one of {known}.",
            language,
        )


_EXTRA = {"study": "a study", "contact": "team@example.org", "bonus": "1.00"}


def read_gates(raw: Mapping[str, Any], settings: StudySettings | None, report: CheckReport) -> dict[str, str]:
    """The templates of all messages, by file name. Each is filled with sample data as a check."""
    listed = raw.get("gate")
    messages: dict[str, str] = {}
    for index, gate in enumerate(listed if isinstance(listed, list) else []):
        name = text_at(gate, "message") if isinstance(gate, dict) else None
        if name is None or name in messages:
            continue
        messages[name] = read_markdown(name, ("gate", index, "message"), report)
        if settings is None or not messages[name]:
            continue
        try:
            check_template(messages[name], _EXTRA)
        except TemplateMistakeError as mistake:
            report.add(
                name,
                mistake.line,
                f"can't be filled: {mistake.why}",
                mistake.fix,
            )
    return messages
