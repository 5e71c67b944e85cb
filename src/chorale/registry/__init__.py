"""The kits that are installed, and what they bring."""

from chorale.registry.installed import (
    BrokenKit,
    aggregators,
    blaming,
    clash,
    commands,
    exports,
    families,
    installed,
    kit_of_command,
    loaded_parts,
    only,
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
    "blaming",
    "clash",
    "commands",
    "exports",
    "families",
    "installed",
    "kit_of_command",
    "loaded_parts",
    "only",
    "papers",
    "readers",
    "sections",
    "tasks",
]
