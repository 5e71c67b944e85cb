"""Table 1 of Nangia et al. (2021) with one column per arm: number of questions, accuracy of people and models, and the
gap.
"""

from collections.abc import Iterator, Sequence

from chorale.kits.questions.metrics import SECTIONS
from chorale.kits.questions.scoring.measured import MeasuredQuestions, shown_models
from chorale.metrics.score_table import Cell, ScoreTable

SECTION_TITLES = {
    "all": "all kept",
    "resampled": "with votes left",
    "high": "high agreement",
    "unanimous": "unanimous",
}


def arms_table(arms: Sequence[MeasuredQuestions]) -> ScoreTable:
    """The sections of all arms side by side, with accuracies and gaps in percent."""
    columns = ("questions", "measure", *(f"{one.file.name}#" for one in arms))
    return ScoreTable("Human and model performance by arm, in percent", columns, list(_rows(arms)))


def _rows(arms: Sequence[MeasuredQuestions]) -> Iterator[tuple[Cell, ...]]:
    models = list(dict.fromkeys(name for one in arms for name in shown_models(one.measures)))
    for section in SECTIONS:
        if not any(one.scores[f"kept {section}"] for one in arms):
            continue
        yield (
            SECTION_TITLES[section],
            "N (mean over samples)",
            *(f"{one.scores[f'kept {section}']:,.1f}" for one in arms),
        )
        names = [*(["human"] if section != "all" else []), *models]
        gaps = [f"gap {name}" for name in models if section != "all"]
        for name in (*names, *gaps):
            yield "", name, *(_percent(one, f"{name} {section}", section) for one in arms)


def _percent(arm: MeasuredQuestions, name: str, section: str) -> str:
    known = name in arm.scores and arm.scores[f"kept {section}"]
    return f"{100 * arm.scores[name]:.1f}" if known else "–"
