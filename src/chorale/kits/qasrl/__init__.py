"""Questions and answers about verbs: write, consolidate, validate, score (Roit et al. 2020)."""

from pathlib import Path

from chorale.registry import Command, Kit, ReportSection

_HERE = __name__

KIT = Kit(
    name="qasrl",
    summary="Questions and answers about verbs: write, consolidate, validate, score (Roit et al. 2020).",
    tasks={
        "qasrl-write": f"{_HERE}.tasks.write:QASRL_WRITE",
        "qasrl-consolidate": f"{_HERE}.tasks.consolidate:QASRL_CONSOLIDATE",
        "qasrl-validate": f"{_HERE}.tasks.validate:QASRL_VALIDATE",
    },
    families={"qasrl": f"{_HERE}.family:FAMILY"},
    commands=(
        Command(
            ("prepare", "qasrl"),
            "Find the verbs of a text: one item each, with the verb's forms, for `chorale new --template qasrl`.",
            f"{_HERE}.commands.prepare:qasrl",
        ),
        Command(
            ("import", "qasrl"),
            "Turn published QA-SRL data into items and gold, for browsing, consolidation or training.",
            f"{_HERE}.commands.importing:qasrl",
        ),
        Command(
            ("train", "qasrl"),
            "Train a QA-SRL parser on the QA-SRL Bank. Run it again to continue after an interruption.",
            f"{_HERE}.commands.train:qasrl",
        ),
        Command(
            ("parse", "qasrl"),
            "Annotate a text with questions and answers, using a trained parser, for `chorale evaluate qasrl`.",
            f"{_HERE}.commands.parsing:qasrl",
        ),
        Command(
            ("evaluate", "qasrl"),
            "Score QA-SRL annotations: unlabelled arguments (UA), labelled arguments (LA) and roles.",
            "chorale.cli.evaluate:qasrl",
        ),
        Command(
            ("browse", "qasrl"),
            "Browse QA-SRL annotations, published or of a study: counts, question types, and every verb with its "
            "sentence.",
            f"{_HERE}.commands.browse:qasrl",
        ),
    ),
    sections=(
        ReportSection(
            "qasrl",
            "Questions and answers about verbs",
            frozenset({"qasrl-write", "qasrl-consolidate", "qasrl-validate"}),
            f"{_HERE}.study_numbers:qasrl_section",
            in_status=True,
        ),
    ),
    catalogues=Path(__file__).with_name("catalogues"),
    templates=Path(__file__).with_name("templates"),
    papers={"roit2020": f"{_HERE}.reproduction:PAPER"},
)
