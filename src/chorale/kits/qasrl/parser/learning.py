"""Training loop: minimises the loss of spans and questions, epoch by epoch."""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from chorale.kits.qasrl.parser.batching import (
    ParserBatch,
    SentenceTargets,
    Vocabularies,
    batch_of,
    targets_together,
)
from chorale.kits.qasrl.parser.encoding import EncodedSentence
from chorale.kits.qasrl.parser.network import ParserNetwork, ParserShape
from chorale.metrics.signatures import Setting

_LONGEST_STEP = 5.0
_WARM_UP = 100
"""Warm-up steps, at most a tenth of all steps."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class ParserTraining:
    """All training settings of a parser, without the data."""

    epochs: int = 8
    batch: int = 48
    rate: float = 1.5e-3
    """Maximum learning rate. It decreases linearly to 0."""
    encoder_rate: float = 1e-4
    """Maximum learning rate of a pretrained encoder."""
    gold_times: int = 1
    """Repetitions of gold standard sentences per epoch."""
    seed: int = 1
    threads: int = 1
    """Number of threads. It is one of the settings because rounding depends on it."""
    words: int = 2
    features: int = 12
    """Minimum frequency of words and features."""
    shape: ParserShape = field(default_factory=ParserShape)

    def settings(self) -> dict[str, Setting]:
        return {name: value for name, value in asdict(self).items() if name != "shape"} | asdict(self.shape)


class TrainingSentence(NamedTuple):
    encoded: EncodedSentence
    targets: SentenceTargets


class Learning:
    """A network in training. Its state can be saved and resumed."""

    def __init__(
        self,
        network: ParserNetwork,
        sentences: Sequence[TrainingSentence],
        vocabularies: Vocabularies,
        settings: ParserTraining,
    ) -> None:
        self.network, self.sentences, self.vocabularies, self.settings = network, sentences, vocabularies, settings
        self.optimizer = torch.optim.AdamW(_groups(network, settings), lr=settings.rate, weight_decay=0.0)
        self.steps = -(-len(sentences) // settings.batch)
        self.losses: list[float] = []
        """Mean loss of each epoch so far."""

    def epoch(self, progress: Progress | None = None) -> None:
        """One pass over all sentences. Order and dropout depend only on the seed and the epoch."""
        done, settings = len(self.losses), self.settings
        torch.manual_seed(settings.seed * 1_000 + done)
        order = list(range(len(self.sentences)))
        random.Random(f"{settings.seed} {done}").shuffle(order)
        self.network.train()
        total = torch.zeros((), device=self.network.feature.weight.device)
        for step in range(self.steps):
            part = [self.sentences[place] for place in order[step * settings.batch : (step + 1) * settings.batch]]
            self._set_rate(done * self.steps + step)
            batch = batch_of([one.encoded for one in part], self.vocabularies)
            loss = loss_of(self.network, batch, targets_together([one.targets for one in part]))
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), _LONGEST_STEP)
            self.optimizer.step()
            total += loss.detach()
            if progress:
                progress(done * self.steps + step + 1, settings.epochs * self.steps)
        self.losses.append(float(total) / max(1, self.steps))

    def _set_rate(self, step: int) -> None:
        total = self.steps * self.settings.epochs
        share = min(1.0, (step + 1) / min(_WARM_UP, max(1, total // 10))) * (1 - step / total)
        for group in self.optimizer.param_groups:
            group["lr"] = group["full_rate"] * share


def _groups(network: ParserNetwork, settings: ParserTraining) -> list[dict[str, Any]]:
    """The trainable weights, with their maximum learning rates."""
    groups: dict[bool, list[Any]] = {False: [], True: []}
    for name, value in network.named_parameters():
        if value.requires_grad:
            groups[name.startswith("encoder.")].append(value)
    rates = {False: settings.rate, True: settings.encoder_rate}
    return [{"params": values, "full_rate": rates[which]} for which, values in groups.items() if values]


def loss_of(network: ParserNetwork, batch: ParserBatch, targets: SentenceTargets) -> Any:
    """Mean loss per verb: of its spans, and of the questions about argument spans."""
    at = network.feature.weight.device

    def given(values: Any) -> Any:
        return torch.from_numpy(values).to(at)

    z = network(batch)
    scores = network.scores(z)
    wanted = torch.stack([given(targets.argument), given(targets.exact)], dim=1)
    loss = functional.binary_cross_entropy_with_logits(scores, wanted, reduction="sum")
    if len(targets.asked):
        spans, place = np.unique(targets.asked[:, 0], return_inverse=True)
        place, weight, asked = given(place), given(targets.weight), given(targets.asked)
        for logits, column in zip(network.questions(z[given(spans)]), (1, 2, 3), strict=True):
            losses = functional.cross_entropy(logits[place], asked[:, column], reduction="none", ignore_index=-1)
            loss = loss + (weight * losses).sum()
    return loss / len(batch.verbs)
