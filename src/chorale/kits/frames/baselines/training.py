"""Trains the frame classifier on FrameNet's annotated texts."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from chorale.files.source import refused
from chorale.files.training_progress import forget, resume, save_progress
from chorale.kits.frames.baselines.accuracy import FrameAccuracy, measure
from chorale.kits.frames.baselines.classifier import FrameClassifier, Progress
from chorale.kits.frames.baselines.fulltext import Part, TargetSentence, most_frequent_frames, sentences_of
from chorale.kits.frames.baselines.lexicon import Lexicon, TensorBatch
from chorale.kits.frames.baselines.network import Network, NetworkShape
from chorale.kits.frames.framenet import FrameNet
from chorale.metrics import signature
from chorale.metrics.signatures import Setting

_LONGEST_STEP = 5.0
_RANDOM = "random state"


@dataclass(frozen=True, slots=True)
class FrameTraining:
    """All training settings of a classifier, without the data."""

    epochs: int = 10
    batch: int = 32
    rate: float = 1e-3
    """Initial learning rate. It decreases linearly to 0."""
    seed: int = 1
    threads: int = 1
    """Rounding depends on the number of threads, so it is one of the settings."""
    shape: NetworkShape = field(default_factory=NetworkShape)

    def settings(self) -> dict[str, Setting]:
        return {name: value for name, value in asdict(self).items() if name != "shape"} | asdict(self.shape)


def train_frames(
    framenet: FrameNet,
    settings: FrameTraining | None = None,
    progress: Progress | None = None,
    *,
    checkpoint: Path | None = None,
) -> FrameClassifier:
    """Trains a classifier on the training texts, and keeps the epoch with the best accuracy on the development texts.

    With a folder for checkpoints, interrupted training resumes after the last complete epoch.
    """
    settings = settings or FrameTraining()
    parts = sentences_of(framenet)
    lexicon = Lexicon.of(parts["train"], framenet.lexical_units)
    learnt_from = [
        one for one in parts["train"] if any(len(lexicon.candidates(target.unit)) > 1 for target in one.targets)
    ]
    if not learnt_from:
        fix = "Use the complete FrameNet 1.7 release, including its fulltext folder"
        raise refused(f"{framenet.name}/fulltext", None, "has no training data apart from the held-out texts", fix)
    with _alone(settings.seed, settings.threads):
        used = {**settings.settings(), "torch": torch.__version__}
        line = signature("frame-classifier", used, {"framenet": framenet.digest})
        classifier = FrameClassifier(Network(lexicon.sizes, settings.shape), lexicon, line)
        learning = _Learning(classifier, learnt_from, parts["dev"], settings)
        epochs = learning.run(progress, checkpoint)
    if checkpoint:
        forget(checkpoint)
    return replace(classifier, training=_report(classifier, parts, settings, epochs, framenet))


@contextmanager
def _alone(seed: int, threads: int) -> Iterator[None]:
    """Sets the random state and the number of threads for training."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(before)


class _Learning:
    """A network in training; its state can be saved after each epoch."""

    def __init__(
        self,
        classifier: FrameClassifier,
        sentences: Sequence[TargetSentence],
        dev: Sequence[TargetSentence],
        settings: FrameTraining,
    ) -> None:
        self.classifier, self.dev, self.settings = classifier, dev, settings
        self.network = classifier.network
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=settings.rate, weight_decay=0.0)
        self.order = list(sentences)
        self.shuffler = random.Random(settings.seed)
        self.epochs: list[dict[str, float]] = []
        """Loss and development accuracy of each epoch so far."""
        self.best: dict[str, Any] = {}

    def run(self, progress: Progress | None, checkpoint: Path | None) -> list[dict[str, float]]:
        """Trains the network in place and restores the weights of the best epoch."""
        if checkpoint:
            self._resume(checkpoint)
        while len(self.epochs) < self.settings.epochs:
            self._epoch(progress)
            if checkpoint:
                kept = {_RANDOM: torch.get_rng_state(), **{f"best.{name}": value for name, value in self.best.items()}}
                save_progress(
                    checkpoint, self.classifier.signature, self.network, self.optimizer, list(self.epochs), kept
                )
        self.network.load_state_dict(self.best)
        return self.epochs

    def _resume(self, folder: Path) -> None:
        saved = resume(folder, self.classifier.signature, self.network, self.optimizer)
        if saved is None:
            return
        self.epochs = saved.epochs
        for _ in self.epochs:
            self.shuffler.shuffle(self.order)
        torch.set_rng_state(saved.kept.pop(_RANDOM))
        self.best = {name.removeprefix("best."): value for name, value in saved.kept.items()}

    def _epoch(self, progress: Progress | None) -> None:
        settings, done = self.settings, len(self.epochs)
        batches = -(-len(self.order) // settings.batch)
        self.network.train()
        self.shuffler.shuffle(self.order)
        for group in self.optimizer.param_groups:
            group["lr"] = settings.rate * (1 - done / settings.epochs)
        losses = []
        for number in range(batches):
            part = self.order[number * settings.batch : (number + 1) * settings.batch]
            losses.append(_step(self.network, self.optimizer, self.classifier.lexicon.batch(part)))
            if progress:
                progress(done * batches + number + 1, settings.epochs * batches)
        accuracy = measure(self.classifier, self.dev).accuracy if self.dev else 0.0
        if not self.best or not self.dev or accuracy > max(one["dev_accuracy"] for one in self.epochs):
            self.best = {name: value.clone() for name, value in self.network.state_dict().items()}
        self.epochs.append({"loss": float(np.mean(losses)), "dev_accuracy": accuracy})


def _step(network: Network, optimizer: Any, batch: TensorBatch) -> float:
    """One training step on the cross entropy of targets with several candidates."""
    chosen = torch.from_numpy((batch.right >= 0) & (batch.real.sum(axis=1) > 1))
    loss = functional.cross_entropy(network(batch)[chosen], torch.from_numpy(batch.right)[chosen])
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), _LONGEST_STEP)
    optimizer.step()
    return float(loss.item())


def _report(
    classifier: FrameClassifier,
    parts: Mapping[Part, Sequence[TargetSentence]],
    settings: FrameTraining,
    epochs: Sequence[Mapping[str, float]],
    framenet: FrameNet,
) -> dict[str, Any]:
    usual = most_frequent_frames(parts["train"], framenet.lexical_units)
    held_out = {part: measure(classifier, parts[part], usual) for part in ("dev", "test") if parts[part]}
    return {
        "settings": settings.settings(),
        "seed": settings.seed,
        "data": {framenet.name: framenet.digest},
        "missing_documents": list(framenet.missing_documents()),
        "sentences": {part: len(sentences) for part, sentences in parts.items()},
        "epochs": [dict(epoch) for epoch in epochs],
        "held_out": {part: _accuracy_scores(accuracy) for part, accuracy in held_out.items()},
    }


def _accuracy_scores(accuracy: FrameAccuracy) -> dict[str, float]:
    return {
        **accuracy.metric().scores(accuracy.statistics()),
        "targets": len(accuracy.ids),
        "ambiguous": accuracy.ambiguous,
    }
