"""The kits that are installed, and what they bring."""

from chorale.registry.installed import (
    BrokenKit,
    aggregators,
    commands,
    families,
    installed,
    loaded_parts,
    papers,
    readers,
    sections,
    tasks,
)
from chorale.registry.kit import Command, CommandGroup, Kit, Place, ReportSection

__all__ = [
    "BrokenKit",
    "Command",
    "CommandGroup",
    "Kit",
    "Place",
    "ReportSection",
    "aggregators",
    "commands",
    "families",
    "installed",
    "loaded_parts",
    "papers",
    "readers",
    "sections",
    "tasks",
]
