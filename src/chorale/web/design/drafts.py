"""Edited options: tried without writing them, and saved to the study file."""

import os
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from chorale.contract import installed_tasks
from chorale.folder.checking.report import SETTINGS_FILE
from chorale.folder.editing import with_options
from chorale.folder.reading import ReadFolder, StageContent, read_folder
from chorale.model import Problem, Refusal, StudySettings, UserError
from chorale.model.extras import need
from chorale.web.design.describing import described

MOST_PREVIEWED = 50
"""Number of items in a preview."""


class Edit(BaseModel):
    """An edit sent by the design page: the options of one stage."""

    model_config = ConfigDict(extra="forbid")

    stage: str = Field(max_length=100)
    digest: str = Field(max_length=64)
    """The digest of the study file at the start of the edit."""
    options: dict[str, Any]
    origins: dict[str, list[int | None]] = Field(default_factory=dict)


@dataclass(frozen=True)
class Tried:
    """The result of trying options: the study with these options, and its problems."""

    text: str
    read: ReadFolder
    place: int
    """The number of the stage."""
    saved: bool = False

    @property
    def can_be_shown(self) -> bool:
        """Whether the form itself is valid, even if other files do not fit it yet."""
        return not self.problems_in_options() and can_be_shown(self.read)

    def problems_in_options(self) -> list[dict[str, Any]]:
        """The problems in the stage's options, with their places."""
        return [
            {"at": list(each.setting[3:]), "message": _sentence(each)}
            for each in self.read.problems
            if self._is_here(each)
        ]

    def other_problems(self) -> list[str]:
        return [str(each) for each in self.read.problems if not self._is_here(each)]

    def _is_here(self, problem: Problem) -> bool:
        return problem.setting[:3] == ("stage", self.place, "options")


def can_be_shown(read: ReadFolder) -> bool:
    return read.settings is not None and len(read.stages) == len(read.settings.stage)


def _sentence(problem: Problem) -> str:
    """A problem without its place and value, which the page shows separately."""
    words = problem.message.partition("` ")
    message = words[2] if problem.message.startswith("`") and words[2] else problem.message
    return f"{message[:1].upper()}{message[1:]}. {problem.fix}"


class Designer:
    """The study file of a folder during design."""

    def __init__(
        self,
        directory: Path,
        refused: Callable[[ReadFolder], Sequence[Problem]],
        saved: Callable[[str], None] | None = None,
    ) -> None:
        """`refused` finds changes that are no longer allowed; `saved` is called with the stage's name."""
        need("tomlkit")
        self.directory = directory
        self._refused, self._saved = refused, saved
        self._saving = Lock()
        self.version = 0
        """Number of drafts that could be previewed."""
        self._latest = read_folder(directory)
        if not can_be_shown(self._latest):
            problems = self._latest.problems
            raise UserError(f"{directory} has problems. Correct them first, so that the form can be shown", problems)

    def text(self) -> str:
        try:
            return (self.directory / SETTINGS_FILE).read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise UserError(f"{SETTINGS_FILE} is not UTF-8. Save it as UTF-8.") from None
        except OSError as error:
            raise UserError(f"{self.directory / SETTINGS_FILE} can't be read: {error.strerror}.") from None

    @property
    def settings(self) -> StudySettings:
        """The settings of the latest draft that can be previewed."""
        if self._latest.settings is None:
            raise TypeError("drafts that can be previewed have settings")
        return self._latest.settings

    @property
    def stages(self) -> Sequence[StageContent]:
        return self._latest.stages

    def state(self) -> dict[str, Any]:
        """The page's data: the stages with their current options, and all settings."""
        text = self.text()
        tasks = installed_tasks()
        stages = []
        for raw in tomllib.loads(text).get("stage", []):
            task = tasks.get(raw.get("task", ""))
            if task is None or not task.options.model.model_fields:
                continue
            stages.append(
                {
                    "name": raw["name"],
                    "title": raw.get("title", raw["name"]),
                    "shares": raw.get("options_from"),
                    "options": raw.get("options", {}),
                    "settings": described(task.options.model),
                }
            )
        if not stages:
            raise UserError(f"{SETTINGS_FILE} has no stage whose task has options, so there is nothing to design.")
        return {"status": "ok", "digest": _digest(text), "stages": stages, "version": self.version}

    def try_out(self, edit: Edit) -> Tried:
        """Check options as `chorale check` does. If the form is valid, previews show it from now on."""
        return self._show(self._tried(edit, self.text()))

    def save(self, edit: Edit) -> Tried:
        """Write the options to the study file, unless the form is invalid or the file has changed.

        After people have worked, there must be no other problems. Before that, gold and other files can be adapted to
        the form later.
        """
        with self._saving:
            text = self.text()
            if _digest(text) != edit.digest:
                raise Refusal(
                    "changed_meanwhile",
                    f"{SETTINGS_FILE} has changed since you opened it here. Nothing was saved. Reload this page to "
                    "edit the file as it is now.",
                )
            tried = self._tried(edit, text)
            if not tried.can_be_shown:
                return tried
            if refused := self._refused(tried.read):
                return replace(tried, read=tried.read._replace(problems=list(refused)))
            _write((self.directory / SETTINGS_FILE).resolve(), tried.text)
            if self._saved is not None:
                self._saved(edit.stage)
            return self._show(replace(tried, saved=True))

    def stage(self, name: str) -> StageContent:
        for content in self.stages:
            if content.settings.name == name:
                return content
        raise Refusal("not_found", "There is no such stage.", 404)

    def _show(self, tried: Tried) -> Tried:
        if tried.can_be_shown:
            self._latest = tried.read
            self.version += 1
        return tried

    def _tried(self, edit: Edit, text: str) -> Tried:
        names = [stage.get("name") for stage in tomllib.loads(text).get("stage", [])]
        if edit.stage not in names:
            raise Refusal("not_found", f"{SETTINGS_FILE} has no stage `{edit.stage}` any more. Reload this page.", 404)
        place = names.index(edit.stage)
        try:
            changed = with_options(text, place, _without_empty(edit.options), edit.origins)
        except (TypeError, ValueError, RecursionError) as error:
            raise Refusal("bad_request", f"These options can't be written: {error}.", 422) from None
        return Tried(changed, read_folder(self.directory, changed), place)


def _without_empty(value: Any) -> Any:
    """Values without empty inputs."""
    if isinstance(value, dict):
        return {name: _without_empty(inner) for name, inner in value.items() if inner is not None}
    return [_without_empty(inner) for inner in value] if isinstance(value, list) else value


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def saved_digest(tried: Tried) -> str:
    """The digest of the saved file."""
    return _digest(tried.text)


def _write(file: Path, text: str) -> None:
    """Replace a file atomically: readers get either the old or the new text."""
    try:
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
        try:
            with os.fdopen(handle, "wb") as new:
                new.write(text.encode())
                new.flush()
                os.fsync(new.fileno())
            Path(name).chmod(file.stat().st_mode & 0o777)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UserError(f"{file} can't be written: {error.strerror}. Nothing was saved.") from None
