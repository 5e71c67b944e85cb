"""`chorale browse frames`"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson, Database
from chorale.cli.parameters import Argument, Option
from chorale.cli.scoring import AsLatex, print_scored
from chorale.engine.started import started_study
from chorale.files.targets import check_target, write_text
from chorale.kits.frames.browsing import FrameBrowsing, browsing_of_files, browsing_of_study, browsing_scored
from chorale.kits.frames.files.sentences import read_frame_sentences, with_lexical_units
from chorale.kits.frames.framenet import FrameNet, read_framenet
from chorale.kits.frames.page import frames_page
from chorale.metrics.options import Force
from chorale.model import UserError
from chorale.text.wordnet import find_wordnet, read_wordnet

Sources = Annotated[
    list[Path],
    Argument(
        metavar="DIR|FSS", help="A study folder, or files of frame-sentence scores (FSS) with the corpus's columns."
    ),
]
Wordnet = Annotated[
    Path | None,
    Option(metavar="DIR", help="WordNet, to look up verbs in --framenet. Default: the standard locations."),
]


def frames(
    sources: Sources,
    qualities: Annotated[Path | None, Option("--sqs", help="File with sentence quality (SQS), for FSS files.")] = None,
    stage: Annotated[str | None, Option(metavar="NAME", help="The stage, for a study with several stages.")] = None,
    framenet: Annotated[Path | None, Option(metavar="DIR", help="FrameNet 1.7, for relations between frames.")] = None,
    wordnet: Wordnet = None,
    bound: Annotated[
        float, Option(metavar="SHARE", min=0, max=1, help="FSS above which a frame counts as present in a sentence.")
    ] = 0.2,
    shown: Annotated[int, Option(min=1, max=10_000, help="Number of rows per table.")] = 15,
    out: Annotated[Path | None, Option(help="Also write a page (.html).")] = None,
    db: Database = None,
    force: Force = False,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Browse frame annotations: sentences by quality, confused frames and their relations, majority frames."""
    check_target(out, "--out", force=force, endings=(".html", ".htm"))
    known = read_framenet(framenet) if framenet else None
    if len(sources) == 1 and sources[0].is_dir():
        title, browsing = _of_study(sources[0], stage, db, known, wordnet, bound)
    else:
        title, browsing = "Frames", _of_files(sources, qualities, known, wordnet, bound)
    scored = browsing_scored(browsing, shown)
    if out is not None:
        write_text(out, "--out", frames_page(browsing, title, scored.notes, max(shown, 40)))
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _of_files(
    paths: list[Path], qualities: Path | None, framenet: FrameNet | None, wordnet: Path | None, bound: float
) -> FrameBrowsing:
    sentences = read_frame_sentences(paths, qualities=qualities, framenet=framenet)
    known_word = _known_word(framenet, wordnet)
    if known_word is not None:
        sentences = with_lexical_units(sentences, known_word)
    return browsing_of_files(sentences, framenet, bound)


def _known_word(framenet: FrameNet | None, wordnet: Path | None) -> Callable[[str], bool] | None:
    """Whether FrameNet has a verb in one of its forms; None without FrameNet or WordNet."""
    if framenet is None or (wordnet is None and find_wordnet() is None):
        return None
    senses = read_wordnet(wordnet)
    return lambda word: any(framenet.units(lemma, "v") for lemma in senses.lemmas(word, "v"))


def _of_study(
    directory: Path,
    stage_name: str | None,
    db: str | None,
    framenet: FrameNet | None,
    wordnet: Path | None,
    bound: float,
) -> tuple[str, FrameBrowsing]:
    with started_study(directory, db) as study:
        stages = [stage for stage in study.stages.values() if stage.task.name == "frames"]
        if not stages:
            raise UserError(f"{directory} has no stage with the task `frames`. Choose a study that has one.")
        named = [stage for stage in stages if stage_name in (None, stage.name)]
        if len(named) != 1:
            wrong = "several stages" if stage_name is None else f"no stage {stage_name!r}"
            there = ", ".join(stage.name for stage in stages)
            raise UserError(f"{directory} has {wrong} with the task `frames`. Select one with --stage: {there}.")
        browsing = browsing_of_study(study, named[0], framenet, bound, _known_word(framenet, wordnet))
        return study.settings.study.title, browsing
