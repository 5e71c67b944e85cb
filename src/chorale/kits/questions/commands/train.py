"""`chorale train mcq`"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.files.model_folders import check_model_target
from chorale.files.targets import writing
from chorale.kits.questions.baselines import (
    LIGHT,
    ChoiceExample,
    Given,
    LightChoice,
    choice_model,
    examples_of,
    lacking,
)
from chorale.kits.questions.commands.baseline import Device, GoldName
from chorale.kits.questions.scoring.sources import read_questions
from chorale.metrics import signature
from chorale.model import UserError
from chorale.model.extras import need
from chorale.model.plural import plural

StartingModel = Annotated[
    str, Option(metavar="MODEL", help="Model: light (built in), or the folder of a Hugging Face model to fine-tune.")
]


def mcq(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder for the model; created if missing.")],
    data: Annotated[
        list[Path],
        Option(metavar="FILE", help="Training questions: .json or .jsonl, optionally compressed (.gz). Repeatable."),
    ],
    given: Annotated[
        Given,
        Option("--input", metavar="WHAT", help="Input of the model: pqa (passage, question, answers), pa, qa or a."),
    ] = "pqa",
    model: StartingModel = LIGHT,
    gold: GoldName = "majority",
    epochs: Annotated[int, Option(min=1, max=100, help="Number of epochs for fine-tuning.")] = 4,
    rate: Annotated[float, Option(metavar="RATE", min=0, max=1, help="Learning rate for fine-tuning.")] = 1e-5,
    batch: Annotated[int, Option(min=1, max=1024, help="Batch size for fine-tuning.")] = 8,
    device: Device = "auto",
    seed: Annotated[int, Option(min=0, max=2**31 - 1, help="Random seed. The light model needs none.")] = 1,
    force: Annotated[bool, Option(help="Overwrite the model in the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train a model to answer multiple-choice questions, for `chorale baseline mcq --model DIR`.

    Run it again to continue after an interruption.
    """
    need("safetensors")
    check_model_target(folder, force=force)
    files = read_questions(data)
    examples = [example for file in files for example in examples_of(file.questions, gold)]
    _check(examples, data, given, gold)
    digests = {file.name: file.digest for file in files}
    settings = {"input": given, "gold": gold}
    shown = [example.seen(given) for example in examples]
    with patiently("batches") as progress, writing(folder, "DIR"):
        if model == LIGHT:
            trained = _train_light(shown, settings, digests, folder)
        else:
            learner = choice_model(model, epochs=epochs, rate=rate, batch=batch, device=device)
            trained = _fine_tune(learner, shown, {**settings, "seed": seed}, digests, folder, progress)
    if as_json:
        print_json({**trained.training, "out": str(folder), "signature": trained.signature})
        return
    print_line(f"{folder}: a model trained on {plural(len(examples), 'question', 'questions')}.")
    print_line(trained.signature)


class _Trained(NamedTuple):
    training: dict[str, Any]
    signature: str


def _check(examples: list[ChoiceExample], data: list[Path], given: Given, gold: str) -> None:
    if not examples:
        names = ", ".join(map(str, data))
        raise UserError(f"{names}: no question has a correct answer with --gold {gold}. Use files with answers.")
    if without := lacking(examples, given):
        counted = plural(len(without), "question lacks", "questions lack")
        raise UserError(
            f"--input {given}: {counted} the passage or the question, such as {without[0]}. Fill them in, or use "
            "another --input."
        )


def _train_light(
    examples: list[ChoiceExample], settings: dict[str, Any], digests: dict[str, str], folder: Path
) -> _Trained:
    from chorale.kits.questions.baselines.saved import TrainedLight, save_light  # noqa: PLC0415 - needs safetensors

    model = LightChoice()
    line = signature("mcq-model", {"model": model.signature, **settings}, digests)
    training = {"settings": settings, "data": digests, "questions": len(examples)}
    save_light(TrainedLight(model.fit(examples), line, training), folder)
    return _Trained(training, line)


def _fine_tune(
    model: Any,
    examples: list[ChoiceExample],
    settings: dict[str, Any],
    digests: dict[str, str],
    folder: Path,
    progress: Callable[[int, int], None],
) -> _Trained:
    from chorale.kits.questions.baselines.fine_tuned import save_fine_tuned  # noqa: PLC0415 - needs the extra `models`
    from chorale.kits.questions.baselines.hugging_face import (  # noqa: PLC0415 - needs the extra `models`
        HuggingFaceText,
        TrainingCheckpoint,
    )

    if isinstance(model, HuggingFaceText) or model.earlier:
        raise UserError(f"{model.folder} does not contain a model that can be fine-tuned. Use a multiple-choice model.")
    line = signature("mcq-model", {"model": model.signature, **settings}, digests)
    fitted = model.fit(examples, settings["seed"], progress, TrainingCheckpoint(folder, line))
    training = {"settings": settings, "model": model.signature, "data": digests, "questions": len(examples)}
    save_fine_tuned(fitted, line, training, folder)
    return _Trained(training, line)
