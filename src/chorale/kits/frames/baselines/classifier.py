"""OS and OS+: a trained classifier over the candidate frames of a lexical unit.

OS predicts the frame with the largest softmax. OS+ omits the softmax and gives every candidate the confidence c(f) = (1
+ tanh v(f)) / 2. Neither predicts frames for a word whose lemma is not a lexical unit of FrameNet.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from chorale.kits.frames.baselines.fulltext import TargetSentence, TargetWord, touched_by
from chorale.kits.frames.baselines.lexicon import Lexicon
from chorale.kits.frames.baselines.prediction import FramePrediction
from chorale.kits.frames.files.words import FrameWord
from chorale.metrics import FloatArray
from chorale.text.inflections import verbs_of

if TYPE_CHECKING:
    from chorale.kits.frames.baselines.network import Network

Label = Literal["one", "several"]
"""One frame per word (OS), or a confidence for each candidate (OS+)."""
Progress = Callable[[int, int], None]
AT_ONCE = 64


@dataclass(frozen=True, slots=True, eq=False)
class FrameClassifier:
    network: "Network"
    lexicon: Lexicon
    signature: str
    """Training settings, seed and data."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Training statistics: texts, sizes, accuracies, epochs."""

    def scores(self, sentences: Sequence[TargetSentence], progress: Progress | None = None) -> list[FloatArray]:
        """Scores v(f) of the candidates of every target, in the order of `Lexicon.candidates`."""
        import torch  # noqa: PLC0415 - heavy, and already loaded if there is a network

        scores: list[FloatArray] = []
        self.network.eval()
        for start in range(0, len(sentences), AT_ONCE):
            batch = self.lexicon.batch(sentences[start : start + AT_ONCE])
            if len(batch.units):
                with torch.no_grad():
                    values = self.network(batch).double().numpy()
                scores += [values[row, : int(real.sum())] for row, real in enumerate(batch.real)]
            if progress:
                progress(min(start + AT_ONCE, len(sentences)), len(sentences))
        return scores

    def predict(
        self, words: Iterable[FrameWord], label: Label = "one", progress: Progress | None = None
    ) -> list[FramePrediction]:
        """The frames of every verb, in input order."""
        known = [(word, unit_of(word.word, self.lexicon.units)) for word in words]
        sentences = [_sentence(word, unit) for word, unit in known if unit is not None]
        scores = iter(self.scores(sentences, progress))
        predictions = []
        for word, unit in known:
            frames: dict[str, float] = {}
            if unit is not None:
                v = next(scores)
                names = self.lexicon.candidates(unit)
                if label == "one":
                    frames = {names[int(v.argmax())]: 1.0}
                else:
                    frames = dict(zip(names, ((1 + np.tanh(v)) / 2).tolist(), strict=True))
            predictions.append(FramePrediction(word.id, frames))
        return predictions


def unit_of(form: str, units: Mapping[str, Sequence[str]]) -> str | None:
    """The lexical unit of a verb form, or None.

    >>> unit_of("Gave", {"give.v": ["Giving"], "gave.n": ["Other"]})
    'give.v'
    """
    stems = [form.casefold(), *(verb.stem for verb in verbs_of(form))]
    # A form that is also a stem (found, left) is more likely a form of the other verb.
    return next((f"{stem}.v" for stem in (*stems[1:], stems[0]) if f"{stem}.v" in units), None)


def _sentence(word: FrameWord, unit: str) -> TargetSentence:
    tokens, touched = touched_by(word.text, [word.span])
    return TargetSentence(word.id, tokens, (TargetWord(touched, unit, ""),))
