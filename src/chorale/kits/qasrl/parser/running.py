"""Runs a saved parser over a file in several processes, and writes rows of the gold standard's CSV."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from chorale.kits.qasrl.files.cells import SEPARATOR
from chorale.kits.qasrl.parser.parsing import ParsedVerb, QasrlParser, SentenceToParse
from chorale.text.predicates import Predicate, forms_of, predicates
from chorale.text.sentence_files import GivenSentence
from chorale.text.tagged_sentences import tokens_of
from chorale.text.tagger import AnalysedSentence, Tagger, load_tagger

COLUMNS = (
    "qasrl_id", "verb_idx", "verb", "question", "answer_range", "answer", "wh", "subj", "obj", "obj2", "aux", "prep",
    "verb_prefix", "is_passive", "is_negated", "verb_slot_inflection", "probability",
)  # fmt: skip
_CHUNK = 256
"""Number of sentences per chunk for a process."""
Progress = Callable[[int, int], None]


def parse_given(
    given: Sequence[GivenSentence],
    folder: Path,
    thresholds: tuple[float, float],
    processes: int = 1,
    progress: Progress | None = None,
) -> Iterator[ParsedVerb]:
    """Parses every verb of the sentences, in order, with the parser of a folder.

    `thresholds` are the minimum probabilities of an answer, and of an answer with its question.
    """
    chunks = [given[start : start + _CHUNK] for start in range(0, len(given), _CHUNK)]
    done = 0
    for chunk, verbs in zip(chunks, _in_order(chunks, folder, thresholds, processes), strict=True):
        yield from verbs
        done += len(chunk)
        if progress:
            progress(done, len(given))


def _in_order(
    chunks: Sequence[Sequence[GivenSentence]], folder: Path, thresholds: tuple[float, float], processes: int
) -> Iterator[list[ParsedVerb]]:
    if min(processes, len(chunks)) <= 1:
        for chunk in chunks:
            yield _parsed(chunk, folder, thresholds)
        return
    with ProcessPoolExecutor(min(processes, len(chunks)), get_context("spawn")) as pool:
        yield from pool.map(_parsed, chunks, [folder] * len(chunks), [thresholds] * len(chunks))


def _parsed(chunk: Sequence[GivenSentence], folder: Path, thresholds: tuple[float, float]) -> list[ParsedVerb]:
    return list(_loaded(folder).parse(sentences_to_parse(chunk, load_tagger()), *thresholds))


@cache
def _loaded(folder: Path) -> QasrlParser:
    import torch  # noqa: PLC0415 - needs the extra `models`

    from chorale.kits.qasrl.parser.saved import load_parser  # noqa: PLC0415 - needs the extra `models`

    torch.set_num_threads(1)  # Each process has its own core.
    return load_parser(folder)


def sentences_to_parse(given: Sequence[GivenSentence], tagger: Tagger) -> Iterator[SentenceToParse]:
    """The sentences with their verbs: those listed in the file, or all that QA-SRL asks about."""
    whole = tagger.analyse(tokens_of(one) for one in given if one.is_one)
    split = tagger.analyse_texts(one.text for one in given if not one.is_one)
    for from_file in given:
        if from_file.is_one:
            yield _to_parse(from_file.name, next(whole), from_file.verbs)
        else:
            for number, sentence in zip(count(1), next(split), strict=False):
                yield _to_parse(f"{from_file.name}.{number}", sentence, None)


def _to_parse(name: str, sentence: AnalysedSentence, named: Sequence[int] | None) -> SentenceToParse:
    if named is None:
        return SentenceToParse(name, sentence, tuple(predicates(sentence.tokens)))
    tokens = sentence.tokens
    verbs = tuple(Predicate(place, forms_of(tokens[place].text, tokens[place].lemma)) for place in named)
    return SentenceToParse(name, sentence, verbs)


def rows_of(verbs: Iterable[ParsedVerb]) -> Iterator[dict[str, Any]]:
    """One row per question, and a row without a question for verbs that have none."""
    for verb in verbs:
        about = {"qasrl_id": verb.sentence, "verb_idx": verb.verb.index, "verb": verb.tokens[verb.verb.index]}
        for question in verb.questions:
            yield about | {
                "question": question.text,
                "answer_range": SEPARATOR.join(f"{start}:{end}" for start, end in question.spans),
                "answer": SEPARATOR.join(" ".join(verb.tokens[start:end]) for start, end in question.spans),
                **question.slots.as_gold_standard(verb.verb.forms),
                "probability": SEPARATOR.join(f"{probability:.3f}" for probability in question.probabilities),
            }
        if not verb.questions:
            yield about
