"""Scripts, layouts and batch files made for Mechanical Turk."""

from pathlib import Path

from chorale.registry import Command, Kit

_HERE = __name__

KIT = Kit(
    name="mturk",
    summary="Scripts, layouts and batch files made for Mechanical Turk.",
    tasks={"mturk": f"{_HERE}.task:MTURK"},
    commands=(
        Command(
            ("keys",),
            "List, make or end the access keys of scripts that speak Mechanical Turk's interface.",
            f"{_HERE}.commands.keys:keys",
        ),
    ),
    templates=Path(__file__).with_name("templates"),
    site=f"{_HERE}.site:SITE",
    exports={"mturk": f"{_HERE}.exports:BATCH"},
    work=f"{_HERE}.store.work:WORK",
    audit=f"{_HERE}.audit:AUDIT",
    starter=f"{_HERE}.from_batch:study_from_batch",
)
