"""The kits that are installed, and what they bring, by name.

A kit that can't be loaded is reported, and only studies that need it stop. A name that two kits have is an error
wherever it is used.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from chorale.lazy import load
from chorale.model import UserError
from chorale.model.extras import explained
from chorale.registry.entry_points import EntryPoint, entry_points
from chorale.registry.kit import Command, CommandGroup, Kit, Place, ReportSection

GROUP = "chorale.kits"
_OLD_GROUP = "chorale.tasks"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BrokenKit:
    """An entry point that gave no kit."""

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
    # By name, so that nothing depends on the order in which packages were installed.
    for point in sorted(entry_points({GROUP, _OLD_GROUP})):
        try:
            kit = _kit(point)
        except Exception as error:  # whatever another package does when it is imported
            broken.append(BrokenKit(point.name, point.package, f"{type(error).__name__}: {error}"))
        else:
            kits.setdefault(kit.name, []).append((point.package, kit))
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


class Parts(Mapping[str, T], Generic[T]):
    """Parts of one kind, by name, over all kits. Each is loaded when it is first asked for."""

    def __init__(self, kind: str, places: Mapping[str, list[tuple[str, Place]]]) -> None:
        self._kind, self._places = kind, places
        self._loaded: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            holders = self._places[name]
            if len(holders) > 1:
                raise UserError(
                    f"Several kits have a {self._kind} `{name}`: {', '.join(kit for kit, _ in holders)}. "
                    "Uninstall all but one of the packages they come from."
                )
            kit, place = holders[0]
            try:
                self._loaded[name] = load(place)
            except UserError:
                raise
            except Exception as error:  # whatever another package does when it is imported
                if isinstance(error, ModuleNotFoundError) and (advice := explained(error)) is not None:
                    raise advice from None
                raise UserError(
                    f"The {self._kind} `{name}` of the kit `{kit}` could not be loaded: "
                    f"{type(error).__name__}: {error}. Repair or uninstall the package it comes from."
                ) from error
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def kit_of(self, name: str) -> str:
        """The kit that has it; of several, the first."""
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
def papers() -> Parts[Any]:
    return _parts("reproduction", lambda kit: kit.papers)


def commands() -> list[Command | CommandGroup]:
    """The commands of all kits."""
    return [command for kit in installed().kits.values() for command in kit.commands]


def sections() -> list[ReportSection]:
    """The report sections of all kits."""
    return [section for kit in installed().kits.values() for section in kit.sections]


def loaded_parts(part: Callable[[Kit], Place | None], used: Iterable[str]) -> list[Any]:
    """One part of every kit that has it and one of the `used` tasks. Other kits have no part in a study."""
    loaded, needed = [], set(used)
    for kit in installed().kits.values():
        place = part(kit)
        if place is None or not needed & set(kit.tasks):
            continue
        try:
            loaded.append(load(place))
        except Exception as error:  # whatever another package does when it is imported
            raise UserError(
                f"A part of the kit `{kit.name}` could not be loaded ({place}): {type(error).__name__}: {error}. "
                "Repair or uninstall the package it comes from."
            ) from error
    return loaded
