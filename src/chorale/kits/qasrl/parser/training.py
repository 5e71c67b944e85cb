"""Trains the parser on questions and answers of the QA-SRL Bank."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import torch

from chorale.files.training_progress import forget, resume, save_progress
from chorale.kits.qasrl.files import Bank, QuestionAnswers
from chorale.kits.qasrl.parser.batching import SentenceTargets, Vocabularies
from chorale.kits.qasrl.parser.encoding import Codes, encode
from chorale.kits.qasrl.parser.examples import SentenceExample, examples_of, gold_examples, is_gold, targets_of
from chorale.kits.qasrl.parser.inventory import QuestionInventory, codes_of
from chorale.kits.qasrl.parser.learning import Learning, ParserTraining, Progress, TrainingSentence
from chorale.kits.qasrl.parser.network import ParserNetwork
from chorale.kits.qasrl.parser.parsing import QasrlParser
from chorale.metrics import signature
from chorale.model import UserError
from chorale.model.extras import need
from chorale.text.tagger import AnalysedSentence, Tagger

if TYPE_CHECKING:
    from chorale.kits.qasrl.parser.encoder import PretrainedEncoder

Device = Literal["cpu", "cuda"]


class TrainingData(NamedTuple):
    """Training data of a parser."""

    bank: Bank
    gold: Sequence[QuestionAnswers] = ()
    """Additional gold standards to train on, for example a dev part."""
    sentences: Mapping[str, Sequence[str]] = {}
    """The tokens of their sentences."""

    def digests(self) -> dict[str, str]:
        return {self.bank.name: self.bank.digest} | {one.name: one.digest for one in self.gold}


def train_qasrl(
    data: TrainingData,
    tagger: Tagger,
    settings: ParserTraining | None = None,
    *,
    encoder: Path | None = None,
    device: Device = "cpu",
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> QasrlParser:
    """Trains a parser on all questions of the Bank that most judges call valid, and on all questions of gold standards.

    `encoder` is a local Hugging Face folder, fine-tuned with the parser. With a folder for checkpoints, interrupted
    training resumes after the last complete epoch.
    """
    settings = settings or ParserTraining()
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("torch finds no CUDA device on this machine. Use --device cpu.")
    examples = [*examples_of(data.bank), *chain.from_iterable(gold_examples(one, data.sentences) for one in data.gold)]
    inventory = inventory_of(examples)
    if not inventory.shapes:
        raise UserError(
            f"{data.bank.name}: no type of question occurs at least three times, so the parser cannot be trained. Use "
            "more sentences of the QA-SRL Bank."
        )
    used = {**settings.settings(), "device": device, "torch": torch.__version__, "tagger": tagger.name}
    loaded, digest = _encoder(encoder) if encoder else (None, "")
    inputs = {"bank": data.bank.digest} | ({"gold": "+".join(one.digest for one in data.gold)} if data.gold else {})
    line = signature("qasrl-parser", used | ({"encoder": digest} if encoder else {}), inputs)
    analysed = tagger.analyse(one.tokens for one in examples)
    sentences = list(training_sentences(zip(examples, analysed, strict=True), inventory, len(examples), progress))
    with _alone(settings.seed, settings.threads):
        learning = learning_of(examples, sentences, inventory, settings, loaded, device)
        saved = resume(checkpoint, line, learning.network, learning.optimizer) if checkpoint else None
        if saved:
            learning.losses = list(map(float, saved.epochs))
        while len(learning.losses) < settings.epochs:
            learning.epoch(progress)
            if checkpoint:
                save_progress(checkpoint, line, learning.network, learning.optimizer, learning.losses)
    if checkpoint:
        forget(checkpoint)
    training = {
        "settings": settings.settings(),
        "seed": settings.seed,
        "device": device,
        "torch": torch.__version__,
        "tagger": tagger.name,
        "encoder": {"folder": encoder.name, "digest": digest} if encoder else None,
        "data": data.digests(),
        "sentences": len(sentences),
        "verbs": sum(len(one.verbs) for one in examples),
        "questions": sum(len(verb.asked) for one in examples for verb in one.verbs),
        "losses": learning.losses,
    }
    return QasrlParser(learning.network.cpu().eval(), learning.vocabularies, inventory, line, training)


def _encoder(folder: Path) -> "tuple[PretrainedEncoder, str]":
    need("transformers", "tokenizers")
    from chorale.kits.qasrl.parser.encoder import PretrainedEncoder  # noqa: PLC0415 - needs transformers

    return PretrainedEncoder.from_folder(folder)


def inventory_of(examples: Iterable[SentenceExample]) -> QuestionInventory:
    """The parts of all questions asked."""
    return QuestionInventory.of(question.slots for one in examples for verb in one.verbs for question in verb.asked)


def learning_of(
    examples: Sequence[SentenceExample],
    sentences: Sequence[TrainingSentence],
    inventory: QuestionInventory,
    settings: ParserTraining,
    encoder: "PretrainedEncoder | None",
    device: Device,
) -> Learning:
    """A new network with its training data. Sentences of a gold standard are repeated according to the settings."""
    vocabularies = Vocabularies.of([one.encoded for one in sentences], settings.words, settings.features)
    sizes = len(vocabularies.words), len(vocabularies.features)
    times = [settings.gold_times if is_gold(example) else 1 for example in examples]
    repeated = [one for one, count in zip(sentences, times, strict=True) for _ in range(count)]
    network = ParserNetwork(inventory, sizes, settings.shape, encoder).to(device)
    return Learning(network, repeated, vocabularies, settings)


@contextmanager
def _alone(seed: int, threads: int) -> Iterator[None]:
    """Sets the random state and the number of threads for training."""
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
    """Encodes each sentence for the network, with its training targets."""
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
