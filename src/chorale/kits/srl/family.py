"""The semantic role family of metrics: files in, a score out, for the command and for Python alike."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count
from os import PathLike
from pathlib import Path

from chorale.kits.srl.files import Corpus, check_alignment, read_frame_relations, read_srl
from chorale.kits.srl.scoring.outcomes import SrlOptions, metrics_for, outcomes
from chorale.kits.srl.scoring.scores import srl_scores
from chorale.metrics.family import Family, Measured, path_of
from chorale.metrics.resampling import checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.model import UserError
from chorale.model.problems import did_you_mean

File = str | PathLike[str]


def score(
    systems: File | Sequence[File],
    gold: File,
    *,
    metric: str | Sequence[str] = "",
    file_format: str = "auto",
    mode: str = "auto",
    predicates: str = "all",
    spans: str = "joined",
    framenet: File | None = None,
    worst: int = 0,
    confusion: bool = False,
    against: File | None = None,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
) -> Score:
    """Semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007.

    `systems` is a system's output, or several. `metric` names scorers, as a list or with commas; the default is
    primesrl, conll05, conll09 and conll08, as far as the files allow.
    """
    _check_word("--predicates", predicates, ("all", "common"))
    _check_word("--spans", spans, ("joined", "apart"))
    named = metric.split(",") if isinstance(metric, str) else metric
    options = SrlOptions(
        tuple(name.strip().lower() for name in named if name.strip()), mode, predicates, spans == "apart"
    )
    paths = [path_of(systems)] if isinstance(systems, str | PathLike) else [path_of(path) for path in systems]
    reference = read_srl(path_of(gold), file_format)
    read_systems = {name: read_srl(path, file_format) for name, path in zip(_names(paths), paths, strict=True)}
    rival = None if against is None else (_names([path_of(against)])[0], read_srl(path_of(against), file_format))
    corpora = [*read_systems.values(), *([] if rival is None else [rival[1]])]
    for corpus in corpora:
        check_alignment(corpus, reference)
    return srl_scores(
        read_systems,
        reference,
        options,
        against=rival,
        resampling=replace(checked_resampling(ci, resamples, seed), progress=progress),
        worst=worst,
        confusion=confusion,
        relations=None if framenet is None else read_frame_relations(path_of(framenet), _senses(reference, *corpora)),
    )


def read(path: File) -> Corpus:
    """A corpus with semantic roles, in any format of the family."""
    return read_srl(path_of(path), "auto")


def measure(system: Corpus, gold: Corpus, *, metric: str = "") -> Measured:
    """A row for every sentence, and the scores of one scorer over them: the first that the files allow by default."""
    options = SrlOptions((metric,) if metric else ())
    name = metrics_for(options, [system, gold], None)[0]
    outcome = outcomes(system, gold, (name,), options, None)[name]
    return outcome.statistics, outcome.metric


_SUMMARY = "Semantic role labelling: PriMeSRL, CoNLL-2005, 2008 and 2009, Senseval-3, SemEval-2007."
FAMILY = Family("srl", _SUMMARY, read, measure, score)


def _check_word(option: str, value: str, known: tuple[str, str]) -> None:
    if value not in known:
        raise UserError(f"{option} is {' or '.join(known)}, not {value!r}.{did_you_mean(value, known)}")


def _names(paths: list[Path]) -> list[str]:
    """Files' names without their endings; a name that is there already gets a number."""
    names: list[str] = []
    for path in paths:
        plain = path.with_suffix("") if path.suffix.lower() == ".gz" else path
        numbered = chain([plain.stem], (f"{plain.stem}-{number}" for number in count(2)))
        names.append(next(name for name in numbered if name not in names))
    return names


def _senses(*corpora: Corpus) -> set[str]:
    return {each.sense for corpus in corpora for sentence in corpus.sentences for each in sentence.predicates}
