"""Semantic role labelling, scored by six metrics (Jindal et al. 2022)."""

from chorale.registry import Command, Kit

_HERE = __name__

KIT = Kit(
    name="srl",
    summary="Semantic role labelling, scored by six metrics (Jindal et al. 2022).",
    families={"srl": f"{_HERE}.family:FAMILY"},
    commands=(
        Command(
            ("evaluate", "srl"),
            "Score semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007.",
            "chorale.cli.evaluate:srl",
        ),
    ),
    papers={"jindal2022": f"{_HERE}.reproduction:PAPER"},
)
