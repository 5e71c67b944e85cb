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
            "List, make or end the access keys of scripts that speak Mechanical Turk's interface.",
            f"{_HERE}.commands.keys:keys",
        ),
        CommandGroup(("mturk",), "Move scripts, workers and qualifications from Mechanical Turk to a study."),
        Command(
            ("mturk", "run"),
            "Run a script made for Mechanical Turk against a study, without changing the script.",
            f"{_HERE}.commands.running:run",
        ),
        Command(
            ("mturk", "map-workers"),
            "Let old worker ids stand for people here, and move blocks and qualifications to them.",
            f"{_HERE}.commands.mapping:map_workers",
        ),
        Command(
            ("mturk", "map-qualification"),
            "Give a qualification type the id that scripts ask for.",
            f"{_HERE}.commands.mapping:map_qualification",
        ),
    ),
    templates=Path(__file__).with_name("templates"),
    site=f"{_HERE}.site:SITE",
    exports={"mturk": f"{_HERE}.exports:BATCH"},
    work=f"{_HERE}.store.work:WORK",
    audit=f"{_HERE}.audit:AUDIT",
    starter=f"{_HERE}.from_batch:study_from_batch",
    for_scripts=f"{_HERE}.from_batch:study_for_scripts",
)
