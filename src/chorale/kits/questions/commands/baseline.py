"""`chorale baseline mcq`"""

from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import AsLatex, print_scored
from chorale.files.tables import write_csv, write_jsonl, write_tsv
from chorale.files.targets import check_target, writing
from chorale.kits.questions.baselines import GIVEN, Given, ModelTrial, choice_model
from chorale.kits.questions.baselines.trials import NONE_CHOSEN
from chorale.kits.questions.family import Folds
from chorale.kits.questions.scoring.measured import McqOptions
from chorale.kits.questions.scoring.partial_inputs import partial_section
from chorale.kits.questions.scoring.scores import unit_note
from chorale.kits.questions.scoring.sources import read_questions
from chorale.kits.questions.text_answers import NO_OPTION
from chorale.metrics import Clusters, signature
from chorale.metrics.options import Cluster, Force, Resamples, Seed, WithIntervals
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Result
from chorale.metrics.signatures import Setting

Files = Annotated[
    list[Path],
    Argument(
        metavar="FILE...", help="Questions with passages and options: .json or .jsonl, optionally compressed (.gz)."
    ),
]
Inputs = Annotated[
    list[Given] | None,
    Option(
        "--input",
        metavar="WHAT",
        help="Input of the model: pqa (passage, question, answers), pa, qa or a. Repeatable. Default: all.",
    ),
]
ModelName = Annotated[
    str,
    Option(
        metavar="MODEL",
        help="Model: light (built in), or the folder of a Hugging Face model with its tokenizer. Multiple-choice "
        "models are fine-tuned; text-to-text models such as UnifiedQA require --epochs 0.",
    ),
]
GoldName = Annotated[
    Literal["majority", "writer"],
    Option(
        metavar="WHOSE", help="Correct answer: majority (of validators and writer) or writer (the writer's answer)."
    ),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"],
    Option(metavar="WHERE", help="Device for a Hugging Face model: cpu, cuda or mps; auto prefers CUDA."),
]
Out = Annotated[
    Path | None,
    Option(help="Output file for all answers (.csv, .tsv or .jsonl), for `chorale evaluate mcq --predictions`."),
]


def mcq(
    files: Files,
    inputs: Inputs = None,
    model: ModelName = "light",
    gold: GoldName = "majority",
    folds: Folds = 5,
    epochs: Annotated[int, Option(min=0, max=100, help="Fine-tuning epochs of a Hugging Face model; 0 for none.")] = 4,
    rate: Annotated[float, Option(metavar="RATE", min=0, max=1, help="Learning rate for fine-tuning.")] = 1e-5,
    batch: Annotated[int, Option(min=1, max=1024, help="Batch size for a Hugging Face model.")] = 8,
    device: Device = "auto",
    out: Out = None,
    force: Force = False,
    ci: WithIntervals = False,
    cluster: Cluster = (),
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Test whether models find the correct answers without question or passage, with cross-validation and transfer."""
    check_target(out, "--out", force=force, endings=(".csv", ".tsv", ".jsonl"))
    chosen = choice_model(model, epochs=epochs, rate=rate, batch=batch, device=device)
    named = read_questions(files)
    shown = tuple(given for given in GIVEN if not inputs or given in inputs)
    trials: list[tuple[Given, ModelTrial]] = []
    asked = McqOptions(cluster=Clusters.named(cluster))
    with patiently("trials") as progress:
        section = partial_section(
            named,
            chosen,
            model,
            asked,
            Resampling(ci, resamples, seed),
            folds=folds,
            progress=progress,
            inputs=shown,
            gold=gold,
            asked_by="chorale baseline mcq",
            keep=lambda given, trial: trials.append((given, trial)),
        )
    if out is not None:
        with writing(out, "--out"):
            _write(trials, model, out)
    settings: dict[str, Setting] = {"model": chosen.signature, "shown": shown, "gold": gold, "folds": folds}
    settings |= {"seed": seed, "resamples": resamples if ci else None, "cluster": asked.cluster or None}
    line = signature("mcq-baseline", settings, {file.name: file.digest for file in named})
    notes = [*section.notes, *(unit_note(file, asked) for file in named if ci)]
    print_scored(Result(section.json, section.tables, line, notes), as_json=as_json, as_latex=as_latex)


def _named(answer: int) -> str:
    return NO_OPTION if answer == NONE_CHOSEN else f"option{answer + 1}"


def _write(trials: list[tuple[Given, ModelTrial]], model: str, out: Path) -> None:
    name = Path(model).name
    rows = [
        {"question_id": question, "model": f"{name}:{given}", "answer": _named(answer)}
        for given, trial in trials
        for question, answer in zip(trial.ids, trial.chosen.tolist(), strict=True)
    ]
    if out.suffix.lower() == ".jsonl":
        write_jsonl(rows, out)
    else:
        write = write_tsv if out.suffix.lower() == ".tsv" else write_csv
        write(("question_id", "model", "answer"), rows, out)
