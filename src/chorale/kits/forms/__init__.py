"""Annotation with any form that a study file describes."""

from pathlib import Path

from chorale.registry import Command, Kit

_HERE = __name__

KIT = Kit(
    name="forms",
    summary="Annotation with any form that a study file describes.",
    tasks={"form": f"{_HERE}.task:FORM"},
    families={"labels": f"{_HERE}.family:FAMILY"},
    commands=(
        Command(
            ("prepare", "best-worst"),
            "Make balanced tuples of texts, as items for best–worst scaling.",
            f"{_HERE}.commands.best_worst:best_worst",
        ),
        Command(
            ("prepare", "pdf-pages"),
            "Convert the pages of PDF documents to images, as items for a form.",
            f"{_HERE}.commands.pdf_pages:pdf_pages",
        ),
        Command(
            ("evaluate", "labels"),
            "Score labels against gold labels: accuracy, F1, agreement, κ, false positives and negatives, per label.",
            "chorale.cli.evaluate:labels",
        ),
        Command(
            ("import", "labelstudio"),
            "Import annotations from Label Studio as a finished study: choices, ratings, texts, spans, regions.",
            f"{_HERE}.commands.importing:labelstudio",
        ),
    ),
    own_table=f"{_HERE}.own_table:study_from_table",
    plain_stage=f"{_HERE}.imported:form_of",
    catalogues=Path(__file__).with_name("catalogues"),
    templates=Path(__file__).with_name("templates"),
    gallery=Path(__file__).with_name("gallery"),
)
