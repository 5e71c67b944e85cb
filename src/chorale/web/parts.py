"""The parts that a kit adds to a study's site."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter

from chorale.engine.running import Study
from chorale.registry import clash
from chorale.store import Tx
from chorale.web.pages import STATIC, TEMPLATES
from chorale.web.serving import Site

if TYPE_CHECKING:
    from chorale.web.console.frame import Console


@dataclass(frozen=True, slots=True)
class HomeCard:
    """Work that a kit offers on a worker's overview, in addition to the stages."""

    title: str
    is_open: bool
    """Whether work is available now."""
    facts: Sequence[tuple[int, str]]
    """Counts with their texts: `(3, "open to you")`."""
    url: str
    link: str
    """The text of the link."""
    pay: Sequence[str] = ()
    """The pay for the available work, in the study's language."""
    only_if_empty: bool = False
    """Whether it is shown only if there is no stage to show."""


@dataclass(frozen=True, slots=True)
class SitePart:
    """Pages of a kit, and work to do while the site runs."""

    name: str
    """Its static files are served under `/static/NAME/`."""
    templates: Path | None = None
    """A folder of Jinja templates, named by their paths in it."""
    static: Path | None = None
    add_routes: Callable[[APIRouter, Site], None] | None = None
    """Adds routes for workers and for programs."""
    console_routes: "Callable[[Console], APIRouter] | None" = None
    """Routes for requesters, with access rules."""
    recruiting_tabs: Callable[[Study], Sequence[tuple[str, str]]] | None = None
    """Tabs of the console's page about recruiting: path and title."""
    home_card: Callable[[Tx, Study, int], HomeCard | None] | None = None
    """The card on a worker's overview, by worker number."""
    from_frames: frozenset[str] = frozenset()
    """Addresses that sandboxed frames may send forms to.

    These frames have no origin and no session; their requests are identified by an unguessable id.
    """
    sweep: Callable[[Study], Awaitable[None]] | None = None
    """Called every few seconds while the site runs."""


def refuse_clashes(parts: Mapping[str, SitePart]) -> None:
    """Refuse kits' site parts whose files would hide those of another kit or of the site."""
    own = {("static folder", path.name) for path in STATIC.iterdir()} | set(_templates(TEMPLATES))
    holders: dict[tuple[str, str], list[str]] = {}
    for kit, part in parts.items():
        for named in (("static folder", part.name), *(() if part.templates is None else _templates(part.templates))):
            holders.setdefault(named, []).append(kit)
    for (kind, name), kits in holders.items():
        if len(kits) > 1 or (kind, name) in own:
            raise clash(kind, name, kits, own=(kind, name) in own)


def _templates(folder: Path) -> Iterator[tuple[str, str]]:
    return (("page template", path.relative_to(folder).as_posix()) for path in folder.rglob("*.html"))
