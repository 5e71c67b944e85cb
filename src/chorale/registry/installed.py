"""The installed kits and their parts, by name.

A kit that can't be loaded is reported, and only studies that need it fail. A name declared by two kits is an error
wherever it is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from chorale.lazy import load
from chorale.model import UserError
from chorale.model.extras import explained
from chorale.model.problems import UnavailableError
from chorale.registry.entry_points import EntryPoint, entry_points
from chorale.registry.kit import Command, CommandGroup, Kit, Place, ReportSection

GROUP = "chorale.kits"
_OLD_GROUP = "chorale.tasks"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BrokenKit:
    """An entry point that did not load as a kit."""

    name: str
    package: str
    reason: str

    @property
    def message(self) -> str:
        return (
            f"The kit `{self.name}` of the package {self.package} could not be loaded: {self.reason}. "
            "Repair or uninstall the package. Studies that do not use the kit are not affected."
        )


@dataclass(frozen=True, slots=True)
class Registry:
    kits: Mapping[str, Kit]
    broken: tuple[BrokenKit, ...]


@cache
def installed() -> Registry:
    """The kits of all installed packages."""
    kits: dict[str, list[tuple[str, Kit]]] = {}
    broken: list[BrokenKit] = []
    # Sorted by name, so that nothing depends on the order in which packages were installed.
    for point in sorted(entry_points({GROUP, _OLD_GROUP})):
        try:
            kit = _kit(point)
        except Exception as error:  # importing another package can raise anything
            broken.append(BrokenKit(point.name, point.package, f"{type(error).__name__}: {error}"))
        else:
            holders = kits.setdefault(kit.name, [])
            # Chorale was once distributed as `chorale`; pip keeps both registrations where the old one was installed.
            if all(kit is not other for _, other in holders):
                holders.append((point.package, kit))
    for name, holders in kits.items():
        packages = [package for package, _ in holders]
        clash = f"the packages {' and '.join(packages)} have a kit of this name"
        broken += [BrokenKit(name, package, clash) for package in packages if len(packages) > 1]
    return Registry({name: holders[0][1] for name, holders in kits.items() if len(holders) == 1}, tuple(broken))


def _kit(point: EntryPoint) -> Kit:
    if point.group == _OLD_GROUP:
        raise TypeError(f"it registers a task as `{_OLD_GROUP}`; declare a chorale.registry.Kit as `{GROUP}` instead")
    kit = load(point.place)
    if not isinstance(kit, Kit):
        raise TypeError(f"{point.place} is {type(kit).__name__}, not a chorale.registry.Kit")
    return kit


def clash(kind: str, name: str, kits: Iterable[str], *, own: bool = False) -> UserError:
    """The error for a name that several kits, or a kit and Chorale's `own` code, declare."""
    named = list(kits)
    holders = ", ".join((*(["Chorale itself"] if own else []), *named))
    of_kits = "the package of the kit" if len(named) == 1 else "the packages of the kits"
    return UserError(
        f"Several {'packages' if own else 'kits'} have the {kind} `{name}`: {holders}. "
        f"Uninstall {of_kits if own else 'all but one of the packages they come from'}."
    )


@contextmanager
def blaming(part: str, failure: str = "failed", *, but: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn any exception in another package's code into an error that names the part and what to do.

    Exceptions of the types in `but`, which are meant for users, are raised unchanged.
    """
    passed: tuple[type[Exception], ...] = (UserError, UnavailableError, *but)
    try:
        yield
    except passed:
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and (advice := explained(error)) is not None:
            raise advice from None
        raise UserError(
            f"The {part} {failure}: {type(error).__name__}: {error}. Repair or uninstall the package it comes from."
        ) from error


class Parts(Mapping[str, T], Generic[T]):
    """Parts of one kind from all kits, by name. Each is loaded when it is first used."""

    def __init__(self, kind: str, places: Mapping[str, list[tuple[str, Place]]]) -> None:
        self._kind, self._places = kind, places
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            holders = self._places[name]
            if len(holders) > 1:
                raise clash(self._kind, name, [kit for kit, _ in holders])
            kit, place = holders[0]
            with blaming(f"{self._kind} `{name}` of the kit `{kit}`", "could not be loaded"):
                self._loaded[name] = load(place)
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def kits_with(self, name: str) -> list[str]:
        return [kit for kit, _ in self._places.get(name, ())]

    def kit_of(self, name: str) -> str:
        """The kit that has the part; the first if there are several."""
        return self._places[name][0][0]


def _parts(kind: str, of_kit: Callable[[Kit], Mapping[str, Place]]) -> Parts[Any]:
    places: dict[str, list[tuple[str, Place]]] = {}
    for kit in installed().kits.values():
        for name, place in of_kit(kit).items():
            places.setdefault(name, []).append((kit.name, place))
    return Parts(kind, places)


@cache
def tasks() -> Parts[Any]:
    return _parts("task", lambda kit: kit.tasks)


@cache
def families() -> Parts[Any]:
    return _parts("metric family", lambda kit: kit.families)


@cache
def readers() -> Parts[Any]:
    return _parts("reader", lambda kit: kit.readers)


@cache
def aggregators() -> Parts[Any]:
    return _parts("aggregation method", lambda kit: kit.aggregators)


@cache
def tokenizers() -> Parts[Any]:
    return _parts("tokenizer", lambda kit: kit.tokenizers)


@cache
def papers() -> Parts[Any]:
    return _parts("reproduction", lambda kit: kit.papers)


@cache
def exports() -> Parts[Any]:
    return _parts("export format", lambda kit: kit.exports)


def commands() -> list[Command | CommandGroup]:
    """The commands of all kits."""
    return [command for kit in installed().kits.values() for command in kit.commands]


def kit_of_command(command: Command) -> str | None:
    """The kit that has a command; None if it is Chorale's own."""
    return next((kit.name for kit in installed().kits.values() if command in kit.commands), None)


def sections() -> list[tuple[str, ReportSection]]:
    """The report sections of all kits, each with its kit."""
    return [(kit.name, section) for kit in installed().kits.values() for section in kit.sections]


def only(kind: str, of_kit: Callable[[Kit], T | None]) -> tuple[str, T]:
    """The part that exactly one installed kit must have, with the kit's name."""
    parts = [(kit.name, part) for kit in installed().kits.values() if (part := of_kit(kit)) is not None]
    if len(parts) != 1:
        whose = f"several kits have one: {', '.join(kit for kit, _ in parts)}" if parts else "no installed kit has one"
        raise UserError(f"This needs a {kind}, and {whose}. Install exactly one package that has it.")
    return parts[0]


def loaded_parts(part: Callable[[Kit], Place | None], used: Iterable[str]) -> dict[str, Any]:
    """One part of every kit that has this part and a task in `used`, by kit. Other kits are not used in a study."""
    loaded, needed = {}, set(used)
    for kit in installed().kits.values():
        place = part(kit)
        if place is None or not needed & set(kit.tasks):
            continue
        with blaming(f"part {place} of the kit `{kit.name}`", "could not be loaded"):
            loaded[kit.name] = load(place)
    return loaded
