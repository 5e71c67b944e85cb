"""Training the parser on questions and answers of the QA-SRL Bank."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from chorale.kits.qasrl.files import Bank
from chorale.kits.qasrl.parser.batching import SentenceTargets, Vocabularies
from chorale.kits.qasrl.parser.checkpoint import forget, resume, save_progress
from chorale.kits.qasrl.parser.encoding import Codes, encode
from chorale.kits.qasrl.parser.examples import SentenceExample, examples_of, targets_of
from chorale.kits.qasrl.parser.inventory import QuestionInventory, codes_of
from chorale.kits.qasrl.parser.learning import Learning, ParserTraining, Progress, TrainingSentence
from chorale.kits.qasrl.parser.network import ParserNetwork
from chorale.kits.qasrl.parser.parsing import QasrlParser
from chorale.metrics import signature
from chorale.model import UserError
from chorale.text.tagger import AnalysedSentence, Tagger

Device = Literal["cpu", "cuda"]


def train_qasrl(
    bank: Bank,
    tagger: Tagger,
    settings: ParserTraining | None = None,
    *,
    device: Device = "cpu",
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> QasrlParser:
    """A parser trained on every question that most of its judges call valid.

    With a folder for checkpoints, a training that was stopped goes on after its last whole epoch.
    """
    settings = settings or ParserTraining()
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("torch finds no 'cuda' on this machine. Use --device cpu.")
    examples = list(examples_of(bank))
    inventory = QuestionInventory.of(
        question.slots for one in examples for verb in one.verbs for question in verb.asked
    )
    if not inventory.shapes:
        raise UserError(
            f"{bank.name}: no kind of question was asked at least three times, so there is nothing to learn. "
            "Use more sentences of the QA-SRL Bank."
        )
    used = {**settings.settings(), "device": device, "torch": torch.__version__, "tagger": tagger.name}
    line = signature("qasrl-parser", used, {"bank": bank.digest})
    analysed = tagger.analyse(one.tokens for one in examples)
    sentences = list(training_sentences(zip(examples, analysed, strict=True), inventory, len(examples), progress))
    vocabularies = Vocabularies.of([one.encoded for one in sentences], settings.words, settings.features)
    with _alone(settings.seed, settings.threads):
        sizes = len(vocabularies.words), len(vocabularies.features)
        learning = Learning(
            ParserNetwork(inventory, sizes, settings.shape).to(device), sentences, vocabularies, settings
        )
        if checkpoint:
            resume(learning, line, checkpoint)
        while len(learning.losses) < settings.epochs:
            learning.epoch(progress)
            if checkpoint:
                save_progress(learning, line, checkpoint)
    if checkpoint:
        forget(checkpoint)
    training = {
        "settings": settings.settings(),
        "seed": settings.seed,
        "device": device,
        "tagger": tagger.name,
        "data": {bank.name: bank.digest},
        "sentences": len(sentences),
        "verbs": sum(len(one.verbs) for one in examples),
        "questions": sum(len(verb.asked) for one in examples for verb in one.verbs),
        "losses": learning.losses,
    }
    return QasrlParser(learning.network.cpu().eval(), vocabularies, inventory, line, training)


@contextmanager
def _alone(seed: int, threads: int) -> Iterator[None]:
    """Random numbers of its own, and the number of threads that the settings name."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)


def training_sentences(
    analysed: Iterable[tuple[SentenceExample, AnalysedSentence]],
    inventory: QuestionInventory,
    total: int,
    progress: Progress | None = None,
) -> Iterator[TrainingSentence]:
    """Each sentence for the network, with what to learn from it."""
    for done, (example, sentence) in enumerate(analysed, 1):
        verbs = [verb.verb for verb in example.verbs]
        encoded = encode(*sentence, verbs, [verb.about for verb in example.verbs])
        yield TrainingSentence(encoded, _targets(example, encoded.spans, encoded.span_counts, inventory))
        if progress:
            progress(done, total)


def _targets(
    example: SentenceExample, spans: Codes, counts: Sequence[int], inventory: QuestionInventory
) -> SentenceTargets:
    argument, exact, asked, weight = [], [], [], []
    first = 0
    for verb, count in zip(example.verbs, counts, strict=True):
        targets = targets_of(spans[first : first + count], verb.asked)
        codes = codes_of(inventory, [question.slots for question in verb.asked])
        argument.append(targets.argument)
        exact.append(targets.exact)
        known = [
            (span, codes[question], share) for span, question, share in targets.asked if min(codes[question][:2]) >= 0
        ]
        asked += [(first + span, *code) for span, code, _ in known]
        weight += [share for *_, share in known]
        first += count
    return SentenceTargets(
        np.concatenate(argument).astype(np.float32),
        np.concatenate(exact).astype(np.float32),
        np.array(asked, dtype=np.int64).reshape(-1, 4),
        np.array(weight, dtype=np.float32),
    )
