"""Inference rules: learn them, judge their applications (Zeichner, Berant and Dagan 2012)."""

from pathlib import Path

from chorale.registry import Command, Kit, ReportSection

_HERE = __name__

KIT = Kit(
    name="rules",
    summary="Inference rules: learn them, judge their applications (Zeichner, Berant and Dagan 2012).",
    tasks={
        "rules-meaningful": f"{_HERE}.tasks.meaningful:RULES_MEANINGFUL",
        "rules-entailment": f"{_HERE}.tasks.entailment:RULES_ENTAILMENT",
        "rules-check": f"{_HERE}.tasks.check:RULES_CHECK",
    },
    families={"rules": f"{_HERE}.family:FAMILY"},
    commands=(
        Command(
            ("demo",),
            "Run a study with a simulated crowd, show the results, and leave the site open.",
            f"{_HERE}.commands.demonstration:demo",
        ),
        Command(
            ("prepare", "rules"),
            "Apply inference rules to extractions, and write the applications as items for people to judge.",
            f"{_HERE}.commands.prepare:rules",
        ),
        Command(
            ("learn", "rules"),
            "Learn inference rules between predicates from extractions.",
            f"{_HERE}.commands.learn:rules",
        ),
        Command(
            ("evaluate", "rules"),
            "Score inference rules against human judgments of their applications.",
            "chorale.cli.evaluate:rules",
        ),
    ),
    sections=(
        ReportSection("rules", "Inference rules", frozenset({"rules-entailment"}), f"{_HERE}.section:rules_section"),
    ),
    catalogues=Path(__file__).with_name("catalogues"),
    templates=Path(__file__).with_name("templates"),
    usual_template="rules",
    papers={"zeichner2012": f"{_HERE}.reproduction:PAPER"},
)
