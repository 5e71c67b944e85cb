"""Annotation artifacts in the texts: lengths of options, words copied from the passage, types of questions.

The correct option is the writer's, so these measures need no validations.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from chorale.kits.questions.files.questions import McqQuestions, McqText
from chorale.kits.questions.metrics.measures import McqMeasures
from chorale.kits.questions.metrics.wording import (
    OTHER,
    WH_WORDS,
    alike_places,
    is_generic,
    is_trivial,
    overlap,
    wh_word,
)
from chorale.metrics import FloatArray, Metric, Statistics, UnpairedComparison, ratio
from chorale.metrics.resampling import Resampling

_WORDS = (*WH_WORDS, OTHER)
_RATIOS: Mapping[str, tuple[int, int]] = {
    "words of an option": (1, 2),
    "words of a correct option": (3, 0),
    "words of a wrong option": (4, 5),
    "words of a question": (6, 0),
    "overlap of correct options": (7, 8),
    "overlap of wrong options": (9, 10),
    "generic questions": (11, 0),
    **{f"asked by {word}": (12 + place, 0) for place, word in enumerate(_WORDS)},
}
_WIDTH = 12 + len(_WORDS)
EXPLANATION_SHARES = ("alike", "alike_by_worker", "trivial", "alike_and_trivial")
_PASSAGE_NEEDED = ("overlap of correct options", "overlap of wrong options")


def measure_written(questions: McqQuestions) -> tuple[Statistics, Metric]:
    """Statistics and scores of every question. Scores that need missing texts are left out."""
    rows = np.zeros((len(questions), _WIDTH))
    for place, text in enumerate(questions.texts):
        rows[place] = _row(questions, place, text.question, text.passage)
    has_questions = any(text.question for text in questions.texts)
    has_passages = any(text.passage for text in questions.texts)
    wanted = {
        name: parts
        for name, parts in _RATIOS.items()
        if (has_passages or name not in _PASSAGE_NEEDED) and (has_questions or "option" in name)
    }

    def formula(sums: FloatArray) -> dict[str, FloatArray | float]:
        return {name: ratio(sums[..., top], sums[..., below]) for name, (top, below) in wanted.items()}

    return Statistics(questions.ids, rows), Metric(formula)


def _row(questions: McqQuestions, place: int, question: str, passage: str) -> FloatArray:
    options = questions.texts[place].options
    words, right = questions.words[place][: len(options)], int(questions.writers[place])
    row = np.zeros(_WIDTH)
    row[0] = 1
    row[1], row[2] = words.sum(), len(words)
    row[3] = words[right]
    row[4], row[5] = words.sum() - words[right], len(words) - 1
    row[6] = len(question.split())
    if passage:
        for number, option in enumerate(options):
            shared = overlap(option, passage)
            if shared is not None:
                at = 7 if number == right else 9
                row[at] += shared
                row[at + 1] += 1
    if question:
        row[11] = is_generic(question)
        row[12 + _WORDS.index(wh_word(question))] = 1
    return row


def option_lengths(questions: McqQuestions, most: int = 30) -> tuple[FloatArray, FloatArray]:
    """Fractions of correct and wrong options by number of words: 0 to `most`, which includes longer options."""
    right = np.zeros_like(questions.words, dtype=bool)
    right[np.arange(len(questions)), questions.writers] = True
    known = ~np.isnan(questions.words)

    def shares(chosen: FloatArray) -> FloatArray:
        counts = np.bincount(np.minimum(chosen, most).astype(np.int64), minlength=most + 1)
        return np.asarray(counts / max(1, counts.sum()), dtype=np.float64)

    return shares(questions.words[right & known]), shares(questions.words[~right & known])


def measure_explanations(questions: McqQuestions) -> tuple[Statistics, Metric] | None:
    """Statistics and fractions of questions with an explanation, or None without explanations.

    Explanations are alike if they are nearly the same. A second fraction compares only explanations by the same writer.
    An explanation is trivial if it is very short or does not refer to its passage, question or answers.
    """
    by_id = {
        name: text for name, text in zip(questions.ids, questions.texts, strict=True) if text.justification.strip()
    }
    if not by_id:
        return None
    given = list(by_id.values())
    written = [text.justification for text in given]
    alike, alike_by_worker = alike_places(written), alike_places(written, [text.writer for text in given])
    abouts = ["\n".join((text.passage, text.question, *text.options)) for text in given]
    trivial = [is_trivial(explanation, about) for explanation, about in zip(written, abouts, strict=True)]
    both = np.logical_and(alike, trivial)
    rows = np.column_stack([np.ones(len(given)), alike, alike_by_worker, trivial, both]).astype(np.float64)

    def formula(sums: FloatArray) -> dict[str, FloatArray | float]:
        return {name: ratio(sums[..., place], sums[..., 0]) for place, name in enumerate(EXPLANATION_SHARES, 1)}

    def wholes(sums: FloatArray) -> dict[str, FloatArray | float]:
        return dict.fromkeys(EXPLANATION_SHARES, sums[..., 0])

    return Statistics(tuple(by_id), rows), Metric(formula, wholes=wholes)


def repeated_questions(texts: Sequence[McqText]) -> float | None:
    """The fraction of questions that repeat an earlier question of the same writer, including generic ones."""
    if not any(text.question for text in texts):
        return None
    repeated = alike_places([text.question for text in texts], [text.writer for text in texts])
    return sum(repeated) / len(texts)


def first_less_second(
    questions: McqQuestions, measures: McqMeasures, resampling: Resampling
) -> dict[str, UnpairedComparison]:
    """Accuracy of each model on first questions minus its accuracy on second questions."""
    places = np.array([text.place or 0 for text in questions.texts])
    if not {1, 2} <= set(places.tolist()):
        return {}
    first, second = (
        Statistics(
            tuple(questions.ids[number] for number in np.flatnonzero(places == place)),
            measures.statistics.rows[places == place],
        )
        for place in (1, 2)
    )
    compared = resampling.compare_apart((first, measures.metric), (second, measures.metric))
    return {name: compared[f"{name} all"] for name in measures.models}


def by_place(questions: McqQuestions, measures: McqMeasures) -> dict[str, dict[int, float]]:
    """Accuracy of each model on the first question about each passage, on the second, and so on."""
    places = np.array([text.place or 0 for text in questions.texts])
    accuracies: dict[str, dict[int, float]] = {name: {} for name in measures.models}
    for place in sorted(set(places.tolist()) - {0}):
        scores = measures.metric.formula(measures.statistics.rows[places == place].sum(axis=0))
        for name in measures.models:
            accuracies[name][place] = float(scores[f"{name} all"])
    return {name: values for name, values in accuracies.items() if len(values) > 1}
