"""`chorale train qasrl`"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.files.model_folders import check_model_target
from chorale.files.targets import writing
from chorale.kits.qasrl.files import QuestionAnswers, Tokens, joined, read_bank, read_qasrl, read_sentences
from chorale.model import UserError
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.text.tagger import load_tagger


def qasrl(
    folder: Annotated[Path, Argument(metavar="DIR", help="Folder for the parser; created if missing.")],
    data: Annotated[Path, Option(metavar="FILE", help="Training sentences of the QA-SRL Bank: .jsonl or .jsonl.gz.")],
    gold: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="Additional gold standard to train on (CSV). Requires --sentences. Repeatable."),
    ] = None,
    sentences: Annotated[
        list[Path] | None, Option(metavar="FILE", help="Sentences of the gold standard, with their tokens. Repeatable.")
    ] = None,
    encoder: Annotated[
        Path | None, Option(metavar="DIR", help="Pretrained encoder: a local Hugging Face folder, fine-tuned here.")
    ] = None,
    epochs: Annotated[int, Option(min=1, max=1000, help="Number of passes over the data.")] = 8,
    seed: Annotated[int, Option(min=0, max=2**31 - 1, help="Random seed.")] = 1,
    threads: Annotated[
        int, Option(min=1, max=256, help="Number of threads. It slightly affects the result, because of rounding.")
    ] = 1,
    device: Annotated[Literal["cpu", "cuda"], Option(help="Device: cpu, or cuda for an NVIDIA GPU.")] = "cpu",
    force: Annotated[bool, Option(help="Overwrite the parser in the folder.")] = False,
    as_json: AsJson = False,
) -> None:
    """Train a QA-SRL parser on the QA-SRL Bank. Run it again to continue after an interruption."""
    need("torch", "safetensors")
    check_model_target(folder, force=force)
    tokens = joined((str(path), read_sentences(path)) for path in sentences or ())
    with patiently("sentences and batches") as progress, writing(folder, "DIR"):
        from chorale.kits.qasrl.parser.learning import ParserTraining  # noqa: PLC0415 - needs the extra `models`
        from chorale.kits.qasrl.parser.saved import save_parser  # noqa: PLC0415 - needs the extra `models`
        from chorale.kits.qasrl.parser.training import TrainingData, train_qasrl  # noqa: PLC0415 - needs `models`

        parser = train_qasrl(
            TrainingData(read_bank(data), [_read_gold(path, tokens) for path in gold or ()], tokens),
            load_tagger(),
            ParserTraining(epochs=epochs, seed=seed, threads=threads),
            encoder=encoder,
            device=device,
            checkpoint=folder,
            progress=progress,
        )
        save_parser(parser, folder)
    if as_json:
        print_json({**parser.training, "out": str(folder), "signature": parser.signature})
        return
    learnt = ((parser.training["sentences"], "sentence", "sentences"), (parser.training["verbs"], "verb", "verbs"),
              (parser.training["questions"], "question", "questions"))  # fmt: skip
    print_line(f"{folder}: a parser trained on {', '.join(plural(*counted) for counted in learnt)}.")
    print_line(parser.signature)


def _read_gold(path: Path, sentences: Mapping[str, Tokens]) -> QuestionAnswers:
    table = read_qasrl(path, sentences)
    missing = sorted({verb.sentence for verb in table.verbs} - set(sentences))
    if missing:
        there = f"{plural(len(missing), 'sentence has', 'sentences have')} no tokens, such as {missing[0]!r}"
        raise UserError(f"{path}: {there}. Use --sentences to add the file with the sentences.")
    return table
