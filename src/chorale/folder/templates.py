"""New studies from the templates of installed kits."""

import secrets
import shutil
import tomllib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

from chorale.folder.own_table import OwnTable
from chorale.folder.reading import SETTINGS_FILE, did_you_mean
from chorale.lazy import load
from chorale.model import UserError
from chorale.registry import Kit, blaming, clash, installed
from chorale.registry.installed import only

GALLERY = "gallery"
"""The prefix of the names of example studies, before a slash."""


@cache
def _templates() -> dict[str, list[tuple[Kit, Path]]]:
    """The templates of all kits by name, each with its kit and folder. Names should be unique."""
    templates: dict[str, list[tuple[Kit, Path]]] = {}
    for kit in installed().kits.values():
        for folder in templates_of(kit):
            templates.setdefault(folder.name, []).append((kit, folder))
        for folder in gallery_of(kit):
            templates.setdefault(f"{GALLERY}/{folder.name}", []).append((kit, folder))
    return templates


def templates_of(kit: Kit) -> list[Path]:
    """The folders of a kit's templates."""
    return [] if kit.templates is None else sorted(file.parent for file in kit.templates.glob(f"*/{SETTINGS_FILE}"))


def gallery_of(kit: Kit) -> list[Path]:
    """The folders of a kit's example studies."""
    return [] if kit.gallery is None else sorted(file.parent for file in kit.gallery.glob(f"*/{SETTINGS_FILE}"))


def template_names() -> list[str]:
    return sorted(_templates())


def template_titles() -> dict[str, str]:
    """The title of the study that each template makes, by the template's name."""
    titles = {}
    for name, holders in sorted(_templates().items()):
        settings = tomllib.loads((holders[0][1] / SETTINGS_FILE).read_text("utf-8"))
        titles[name] = str(settings["study"]["title"])
    return titles


def usual_template() -> str | None:
    """The template that `chorale new` suggests; None unless exactly one kit suggests one."""
    names = {kit.usual_template for kit in installed().kits.values()} - {None}
    return names.pop() if len(names) == 1 else None


def layout_template() -> str | None:
    """The template for a layout and a batch file; None unless exactly one template uses them."""
    names = [name for name, holders in _templates().items() if any(kit.starter for kit, _ in holders)]
    return names[0] if len(names) == 1 else None


def create_study(directory: Path, template: str) -> list[Path]:
    """Copy a template into a new or empty folder, all or nothing. Returns the files it wrote."""
    return _write(directory, partial(_copy, template_folder(template)))


def create_study_from_files(directory: Path, template: str, *sources: Path) -> list[Path]:
    """Make a study in a new or empty folder from the user's files, with the template's kit."""
    return _create_by_kit(directory, template, "starter", "does not use files. Leave out --html and --csv", *sources)


def create_study_for_scripts(directory: Path, template: str) -> list[Path]:
    """Make a study whose tasks all come from scripts, in a new or empty folder, with the template's kit."""
    return _create_by_kit(directory, template, "for_scripts", "does not support scripts. Leave out --scripts-only")


def _create_by_kit(directory: Path, template: str, part: str, unable: str, *sources: Path) -> list[Path]:
    kit, folder = _template(template)
    place: str | None = getattr(kit, part)
    if place is None:
        able = [name for name, holders in _templates().items() if any(getattr(kit, part) for kit, _ in holders)]
        raise UserError(f"The template `{template}` {unable}, or choose a template that does: {', '.join(able)}.")
    with blaming(f"part {place} of the kit `{kit.name}`"):
        files = list(load(place)(folder, *sources))
    return _write(directory, partial(_fill, files))


def create_study_from_table(
    directory: Path, table: OwnTable, text: str, key: str | None, ask: str, labels: Sequence[str]
) -> list[Path]:
    """Make a study in a new or empty folder that asks one question about every row of a table."""
    kit, place = only("study made from a table", lambda kit: kit.own_table)
    with blaming(f"part {place} of the kit `{kit}`"):
        files = list(load(place)(table, text, key, ask, labels))
    return _write(directory, partial(_fill, files))


def _fill(files: Iterable[tuple[str, str]], target: Path) -> None:
    target.mkdir()
    for name, content in files:
        (target / name).write_text(content, "utf-8", newline="\n")


def template_folder(template: str) -> Path:
    """The folder of a template."""
    return _template(template)[1]


def _template(name: str) -> tuple[Kit, Path]:
    holders = _templates().get(name, [])
    if not holders:
        # The start of a name stands for all names that begin with it: `gallery`.
        begun = [known for known in template_names() if known.startswith(f"{name}/")]
        raise UserError(f"No template named `{name}`. {did_you_mean('' if begun else name, begun or template_names())}")
    if len(holders) > 1:
        raise clash("template", name, [kit.name for kit, _ in holders])
    return holders[0]


def is_from_template(folder: Path, name: str) -> bool:
    """Whether a file of a study is an unchanged file of a template."""
    file = folder / name
    size = file.stat().st_size
    there = (template / name for holders in _templates().values() for _, template in holders)
    return any(
        path.is_file() and path.stat().st_size == size and path.read_bytes() == file.read_bytes() for path in there
    )


def _write(directory: Path, fill: Callable[[Path], None]) -> list[Path]:
    target = directory.absolute()
    try:
        _refuse_if_taken(target, directory)
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        try:
            fill(staged)
            _move(staged, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise UserError(f"{directory} can't be written: {error.strerror}. Choose another folder.") from error
    return sorted(path for path in directory.rglob("*") if path.is_file())


def _refuse_if_taken(target: Path, shown_as: Path) -> None:
    if target.is_dir():
        if any(target.iterdir()):
            raise UserError(f"{shown_as} is not empty. Choose a new folder, or empty this one first.")
    elif target.exists() or target.is_symlink():
        raise UserError(f"{shown_as} is a file. Choose a new folder.")


def _copy(source: Path, target: Path) -> None:
    """Copy contents without permissions: installed templates may be read-only, and the study will be edited."""
    target.mkdir()
    for path in source.iterdir():
        if path.is_dir():
            _copy(path, target / path.name)
        else:
            shutil.copyfile(path, target / path.name)


def _move(staged: Path, target: Path) -> None:
    if not target.exists():
        staged.rename(target)
        return
    # An empty folder is filled rather than replaced, since it may be a shell's working directory. The study file is
    # copied last: without it, the folder is not a study.
    for path in sorted(staged.iterdir(), key=lambda path: path.name == SETTINGS_FILE):
        path.rename(target / path.name)
