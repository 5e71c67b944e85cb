"""The family of metrics for multiple-choice questions: files in, a score out, from Python."""

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike

from chorale.kits.questions.files.questions import McqQuestions, read_mcq
from chorale.kits.questions.metrics import AlphaVariant, Ties, measure_mcq
from chorale.kits.questions.scoring.measured import McqOptions, with_sections
from chorale.kits.questions.scoring.scores import score_mcq
from chorale.kits.questions.scoring.sources import digests_of, read_sources
from chorale.kits.questions.scoring.written_questions import written_section
from chorale.metrics.family import Family, Measured, path_of
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score

File = str | PathLike[str]


def score(
    files: File | Sequence[File],
    *,
    ties: Ties = "share",
    gold_votes: int = 4,
    alpha: AlphaVariant = "with-writer",
    against: File | None = None,
    by_arm: bool = False,
    validations: File | None = None,
    predictions: File | None = None,
    written: bool = False,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
) -> Score:
    """Human performance on multiple-choice questions, and the gap to models.

    `files` are questions with the answers of validators and models; `validations` and `predictions` are more answers.
    `against` is another file, or with `by_arm` an arm, to compare each with. `written` adds what was written: lengths,
    overlap, kinds of questions.
    """
    paths = [path_of(files)] if isinstance(files, str | PathLike) else [path_of(file) for file in files]
    other, more, guessed = (None if path is None else path_of(path) for path in (against, validations, predictions))
    named, rival, _ = read_sources(paths, None, other, None, more, guessed, by_arm)
    beside = digests_of({"validations": more, "predictions": guessed}, [])
    options = McqOptions(ties, gold_votes, alpha, {"by-arm": by_arm}, beside)
    resampling = replace(checked_resampling(ci, resamples, seed), progress=progress)
    scored = score_mcq(named, options, resampling, rival)
    if not written:
        return scored
    everything = [*([rival] if rival is not None and by_arm else []), *named]
    return with_sections(scored, [written_section(everything, options, resampling)])


def read(path: File) -> McqQuestions:
    """Questions, with the answers of validators and models."""
    return read_mcq(path_of(path))[0]


def measure(questions: McqQuestions, *, gold_votes: int = 4, ties: Ties = "share") -> Measured:
    """A row for every question, and accuracies of people and models over them. The gold comes from people's votes."""
    measures = measure_mcq(questions, drawn=gold_votes, ties=ties)
    return measures.statistics, measures.metric


FAMILY = Family("mcq", "Human performance on multiple-choice questions, and the gap to models.", read, measure, score)
