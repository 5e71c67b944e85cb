"""Scripts, layouts and batch files made for Mechanical Turk."""

from pathlib import Path

from chorale.registry import Command, CommandGroup, Kit

_HERE = __name__

KIT = Kit(
    name="mturk",
    summary="Scripts, layouts and batch files made for Mechanical Turk.",
    tasks={"mturk": f"{_HERE}.task:MTURK"},
    commands=(
        Command(
            ("keys",),
            "List, create or revoke access keys for scripts that use Mechanical Turk's API.",
            f"{_HERE}.commands.keys:keys",
        ),
        CommandGroup(("mturk",), "Move scripts, workers and qualifications from Mechanical Turk to a study."),
        Command(
            ("mturk", "run"),
            "Run a Mechanical Turk script against a study, without changing the script.",
            f"{_HERE}.commands.running:run",
        ),
        Command(
            ("mturk", "map-workers"),
            "Map Mechanical Turk's worker IDs to people in the study, and transfer their blocks and qualifications.",
            f"{_HERE}.commands.mapping:map_workers",
        ),
        Command(
            ("mturk", "map-qualification"),
            "Give a qualification type the ID that scripts use.",
            f"{_HERE}.commands.mapping:map_qualification",
        ),
    ),
    templates=Path(__file__).with_name("templates"),
    catalogues=Path(__file__).with_name("catalogues"),
    site=f"{_HERE}.site:SITE",
    exports={"mturk": f"{_HERE}.exports:BATCH"},
    work=f"{_HERE}.store.work:WORK",
    audit=f"{_HERE}.audit:AUDIT",
    starter=f"{_HERE}.from_batch:study_from_batch",
    for_scripts=f"{_HERE}.from_batch:study_for_scripts",
)
