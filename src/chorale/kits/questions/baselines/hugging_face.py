"""Any multiple-choice model of Hugging Face's transformers, from a folder on this machine. Nothing is downloaded.

The input of an option is the passage, a separator of the tokenizer, and the question with the option; hidden parts are
left out. Long passages are truncated at the end. With epochs, every training run fine-tunes a
fresh copy of the folder's model. With --epochs 0, the model is used unchanged.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers

from chorale.files.source import refused
from chorale.files.training_progress import resume, save_progress
from chorale.kits.questions.baselines.choice_models import EarlierTraining, check_model_folder
from chorale.kits.questions.baselines.examples import ChoiceExample
from chorale.kits.questions.text_answers import option_in, prompt
from chorale.metrics import FloatArray
from chorale.model import UserError

_LONGEST_STEP = 1.0
_KEEP_FOR_ANSWERS = 64
_LONGEST_ANSWER = 100
_RANDOM = "random state"
Progress = Callable[[int, int], None]


class TrainingCheckpoint(NamedTuple):
    """File with the state of a training run, and the ID of that run."""

    folder: Path
    signature: str


@dataclass(frozen=True, slots=True)
class HuggingFaceChoice:
    """A folder with a model and its tokenizer, and its training settings (as in Nangia et al. 2021, appendix F)."""

    folder: Path
    epochs: int = 4
    rate: float = 1e-5
    batch: int = 8
    device: str = "auto"
    """Device: cpu, cuda or mps; `auto` uses CUDA if available, otherwise the CPU."""
    longest: int = 512
    """Maximum length in tokens, limited by the model's own maximum."""
    earlier: EarlierTraining | None = None
    """Training data, if `chorale train mcq` trained the folder's model."""

    def __post_init__(self) -> None:
        check_model_folder(self.folder)

    @property
    def signature(self) -> str:
        parts = {"epochs": self.epochs, "rate": self.rate, "batch": self.batch, "longest": self.longest}
        settings = ",".join(f"{name}:{value!r}" for name, value in parts.items()) + f",device:{self._place()}"
        return (
            f"hugging-face:{self.digest()},{settings},transformers:{transformers.__version__},torch:{torch.__version__}"
        )

    def digest(self) -> str:
        """Digest of the folder's configuration and weights."""
        digest = sha256()
        for path in sorted(self.folder.iterdir()):
            if path.name == "config.json" or path.suffix in (".safetensors", ".bin"):
                digest.update(path.name.encode())
                with path.open("rb") as file:
                    while block := file.read(2**20):
                        digest.update(block)
        return digest.hexdigest()[:8]

    def fit(
        self,
        examples: Sequence[ChoiceExample],
        seed: int,
        progress: Progress | None = None,
        checkpoint: TrainingCheckpoint | None = None,
    ) -> "FittedHuggingFace":
        """Fine-tunes on the examples. With a checkpoint, interrupted training resumes after the last complete epoch."""
        ordered = sorted(examples, key=lambda one: one.id)
        place = self._place()
        with _drawing(seed, place), _fast_products():
            tokenizer, model = self._opened()
            fitted = FittedHuggingFace(model.to(place), tokenizer, self._limit(tokenizer, model), self.batch)
            if self.epochs:
                _FineTuning(fitted, ordered, self, seed).run(progress, checkpoint)
        model.eval()
        return fitted

    def _place(self) -> str:
        there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if self.device == "auto":
            return "cuda" if there["cuda"] else "cpu"
        if not there.get(self.device, False):
            able = ", ".join(name for name, is_there in there.items() if is_there)
            raise UserError(f"torch finds no device {self.device!r} on this machine. Use one of: auto, {able}.")
        return self.device

    def _opened(self) -> tuple[Any, Any]:
        transformers.utils.logging.disable_progress_bar()
        try:
            # Code in a model folder is never executed, and there is no prompt to allow it.
            careful = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder, **careful)
            # Half precision would amplify small differences between machines.
            model = self._kind().from_pretrained(self.folder, **careful).float()
        except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
            fix = "Use a folder with a model and its tokenizer, as written by save_pretrained"
            raise refused(self.folder, None, "can't be loaded", fix, _first_line(error)) from None
        return tokenizer, model

    def _kind(self) -> Any:
        return transformers.AutoModelForMultipleChoice

    def _limit(self, tokenizer: Any, model: Any) -> int:
        positions = getattr(model.config, "max_position_embeddings", self.longest)
        # RoBERTa models count positions from the number of the padding token.
        if model.config.model_type in ("roberta", "xlm-roberta", "camembert"):
            positions -= (model.config.pad_token_id or 0) + 1
        return int(min(self.longest, positions, tokenizer.model_max_length))


@dataclass(frozen=True, slots=True)
class HuggingFaceText(HuggingFaceChoice):
    """A folder with a text-to-text model such as UnifiedQA. It does not learn from the examples."""

    def fit(self, examples: Sequence[ChoiceExample], seed: int) -> "FittedText":  # type: ignore[override] # noqa: ARG002
        tokenizer, model = self._opened()
        model.eval()
        return FittedText(model.to(self._place()), tokenizer, self.longest, self.batch)

    def _kind(self) -> Any:
        return transformers.AutoModelForSeq2SeqLM


@dataclass(frozen=True, slots=True, eq=False)
class FittedText:
    model: Any
    tokenizer: Any
    longest: int
    at_once: int

    def predict(self, examples: Sequence[ChoiceExample]) -> list[FloatArray]:
        """1 for the option most similar to the model's text; 0 for all options if none is similar."""
        chances = []
        for start in range(0, len(examples), self.at_once):
            part = examples[start : start + self.at_once]
            for example, text in zip(part, self._written(part), strict=True):
                option = option_in(text, example.options)
                chances.append(np.arange(len(example.options)) == (-1 if option is None else option))
        return [one.astype(np.float64) for one in chances]

    def _written(self, examples: Sequence[ChoiceExample]) -> list[str]:
        """The generated text, by greedy decoding. Long passages are truncated at the end."""
        read = [prompt(one.question, one.options, one.passage) for one in examples]
        encoded = self.tokenizer(
            read,
            truncation=True,
            max_length=self.longest,
            padding=True,
            return_tensors="pt",
            return_token_type_ids=False,
        ).to(self.model.device)
        with torch.no_grad(), _fast_products():
            written = self.model.generate(**encoded, max_new_tokens=_LONGEST_ANSWER, num_beams=1, do_sample=False)
        texts: list[str] = self.tokenizer.batch_decode(written, skip_special_tokens=True)
        return texts


@dataclass(frozen=True, slots=True, eq=False)
class FittedHuggingFace:
    model: Any
    tokenizer: Any
    longest: int
    at_once: int

    def predict(self, examples: Sequence[ChoiceExample]) -> list[FloatArray]:
        probabilities = []
        for start in range(0, len(examples), self.at_once):
            part = examples[start : start + self.at_once]
            with torch.no_grad(), _fast_products():
                chances = torch.softmax(self.logits(part).cpu().double(), dim=-1).numpy()
            probabilities += [chances[row, : len(one.options)] for row, one in enumerate(part)]
        return probabilities

    def logits(self, examples: Sequence[ChoiceExample]) -> Any:
        """Scores of every option of every example, padded with a very small number."""
        most = max(len(one.options) for one in examples)
        pairs = [self._texts(one, place) for one in examples for place in range(most)]
        encoded = self._encoded(pairs)
        place = self.model.device
        shaped = {name: value.view(len(examples), most, -1).to(place) for name, value in encoded.items()}
        logits = self.model(**shaped).logits
        there = np.asarray([[place < len(one.options) for place in range(most)] for one in examples])
        return logits.masked_fill(~torch.from_numpy(there).to(place), -1e9)

    def _texts(self, example: ChoiceExample, place: int) -> tuple[str, str]:
        option = example.options[place] if place < len(example.options) else ""
        return example.passage, f"{example.question} {option}".strip()

    def _encoded(self, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
        # A question with its option that exceeds the maximum length is truncated too.
        ends = [self._cut(second) for _, second in pairs]
        if any(first for first, _ in pairs):
            firsts = [first for first, _ in pairs]
            encoded = self.tokenizer(
                firsts, ends, truncation="only_first", max_length=self.longest, padding=True, return_tensors="pt"
            )
        else:
            encoded = self.tokenizer(ends, truncation=True, max_length=self.longest, padding=True, return_tensors="pt")
        return dict(encoded)

    def _cut(self, text: str) -> str:
        room = max(self.longest // 2, self.longest - _KEEP_FOR_ANSWERS)
        tokens = self.tokenizer.tokenize(text)
        if len(tokens) <= room:
            return text
        return str(self.tokenizer.convert_tokens_to_string(tokens[:room]))


class _FineTuning:
    """A model from a folder, in training."""

    def __init__(
        self, fitted: FittedHuggingFace, examples: Sequence[ChoiceExample], settings: HuggingFaceChoice, seed: int
    ) -> None:
        self.fitted, self.settings = fitted, settings
        self.optimizer = torch.optim.AdamW(fitted.model.parameters(), lr=settings.rate)
        self.order = list(examples)
        self.shuffler = random.Random(seed)
        self.losses: list[float] = []
        """Mean loss of each epoch so far."""

    def run(self, progress: Progress | None, checkpoint: TrainingCheckpoint | None) -> None:
        model = self.fitted.model
        saved = resume(*checkpoint, model, self.optimizer) if checkpoint else None
        if saved:
            self.losses = list(map(float, saved.epochs))
            for _ in self.losses:
                self.shuffler.shuffle(self.order)
            torch.set_rng_state(saved.kept[_RANDOM])
        while len(self.losses) < self.settings.epochs:
            self._epoch(progress)
            if checkpoint:
                kept = {_RANDOM: torch.get_rng_state()}
                save_progress(*checkpoint, model, self.optimizer, self.losses, kept)

    def _epoch(self, progress: Progress | None) -> None:
        batch, model = self.settings.batch, self.fitted.model
        steps, done = -(-len(self.order) // batch), len(self.losses)
        self.shuffler.shuffle(self.order)
        model.train()
        losses = []
        for step in range(steps):
            part = self.order[step * batch : (step + 1) * batch]
            right = torch.tensor([one.right for one in part], device=model.device)
            loss = torch.nn.functional.cross_entropy(self.fitted.logits(part), right)
            if not torch.isfinite(loss):
                raise UserError(f"The model of {self.settings.folder} diverged. Use a smaller --rate.")
            self.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), _LONGEST_STEP)
            self.optimizer.step()
            losses.append(loss.item())
            if progress:
                progress(done * steps + step + 1, self.settings.epochs * steps)
        self.losses.append(float(np.mean(losses)))


@contextmanager
def _drawing(seed: int, place: str) -> Iterator[None]:
    cards = [torch.cuda.current_device()] if place == "cuda" else []
    with torch.random.fork_rng(devices=cards):
        torch.manual_seed(seed)
        yield


@contextmanager
def _fast_products() -> Iterator[None]:
    """Uses TF32 on GPUs that support it: products take a third of the time, with 10-bit mantissas."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
