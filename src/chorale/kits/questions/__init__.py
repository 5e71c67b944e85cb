"""Hard multiple-choice questions under four protocols (Nangia et al. 2021)."""

from pathlib import Path

from chorale.registry import Command, Kit, ReportSection

_HERE = __name__

KIT = Kit(
    name="questions",
    summary="Hard multiple-choice questions under four protocols (Nangia et al. 2021).",
    tasks={
        "mcq-write": f"{_HERE}.tasks.write:MCQ_WRITE",
        "mcq-compare": f"{_HERE}.tasks.compare:MCQ_COMPARE",
        "mcq-grade": f"{_HERE}.tasks.grade:MCQ_GRADE",
        "mcq-validate": f"{_HERE}.tasks.validate:MCQ_VALIDATE",
    },
    families={"mcq": f"{_HERE}.family:FAMILY"},
    commands=(
        Command(
            ("prepare", "mcq"),
            "Split texts into passages for a study of multiple-choice questions, without duplicates.",
            f"{_HERE}.commands.prepare:mcq",
        ),
        Command(
            ("evaluate", "mcq"),
            "Measure human performance on multiple-choice questions, and the gap to models.",
            "chorale.cli.evaluate:mcq",
        ),
        Command(
            ("baseline", "mcq"),
            "Test whether models find the correct answers without question or passage, with cross-validation and "
            "transfer.",
            f"{_HERE}.commands.baseline:mcq",
        ),
        Command(
            ("train", "mcq"),
            "Train a model to answer multiple-choice questions, for `chorale baseline mcq --model DIR`.",
            f"{_HERE}.commands.train:mcq",
        ),
    ),
    sections=(
        ReportSection("rubric", "Grading rubric", frozenset({"mcq-grade"}), f"{_HERE}.section:rubric_section"),
        ReportSection(
            "questions",
            "Multiple-choice questions",
            frozenset({"mcq-validate"}),
            f"{_HERE}.section:questions_section",
            by_arm=True,
        ),
    ),
    catalogues=Path(__file__).with_name("catalogues"),
    templates=Path(__file__).with_name("templates"),
    papers={"nangia2021": f"{_HERE}.reproduction:PAPER"},
)
