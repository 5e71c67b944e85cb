"""`chorale parse qasrl`"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import AsJson, OnePerLine, Texts
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.contract import ItemError
from chorale.files.rows import read_rows
from chorale.files.tables import write_csv, write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.qasrl.parser.answering import parsed_items, recorded_answer
from chorale.kits.qasrl.parser.parsing import THRESHOLD, ParsedVerb
from chorale.kits.qasrl.parser.running import COLUMNS, parse_given, rows_of
from chorale.kits.qasrl.tasks.write import QASRL_WRITE
from chorale.metrics.options import Force
from chorale.model import Problem, UserError
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.text.sentence_files import IDS, read_given
from chorale.text.tagger import load_tagger


def qasrl(
    texts: Texts,
    model: Annotated[Path, Option(metavar="DIR", help="Folder of a parser trained with `chorale train qasrl`.")],
    out: Annotated[
        Path,
        Option(help="Output file for the questions and answers (.csv); with --stage, for recorded answers (.jsonl)."),
    ],
    stage: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="Write answers to the items of this stage, as a file for the setting `answers` of a [[model]]. The "
            "input must then be a file written by `chorale prepare qasrl`.",
        ),
    ] = None,
    threshold: Annotated[
        float,
        Option(min=0.0, max=1.0, help="Minimum probability of an answer: higher for precision, lower for recall."),
    ] = THRESHOLD,
    question_threshold: Annotated[
        float,
        Option(
            min=0.0,
            max=1.0,
            help="Minimum probability that an answer and its question are both correct: higher for fewer errors.",
        ),
    ] = 0.0,
    processes: Annotated[int, Option(min=1, max=256, help="Number of processes.")] = 1,
    one_per_line: OnePerLine = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Annotate a text with questions and answers, using a trained parser, for `chorale evaluate qasrl`."""
    need("torch", "safetensors", "spacy")
    check_target(out, "--out", force=force, endings=(".csv",) if stage is None else (".jsonl",))
    counts = {"verbs": 0, "questions": 0, "answers": 0}
    if stage is not None:
        with patiently("items"), writing(out, "--out"):
            write_jsonl(_recorded(texts, model, (threshold, question_threshold), stage, counts), out)
        _print(out, counts, as_json=as_json)
        return
    with patiently("sentences") as progress, writing(out, "--out"):
        given = read_given(texts, one_per_line=one_per_line, ids=(*IDS, "qasrl_id"))

        def counted() -> Iterator[ParsedVerb]:
            for verb in parse_given(given, model, (threshold, question_threshold), processes, progress):
                counts["verbs"] += 1
                counts["questions"] += len(verb.questions)
                counts["answers"] += sum(len(question.spans) for question in verb.questions)
                yield verb

        write_csv(COLUMNS, rows_of(counted()), out)
    _print(out, counts, as_json=as_json)


def _recorded(
    items: Path, model: Path, thresholds: tuple[float, float], stage: str, counts: dict[str, int]
) -> Iterator[dict[str, Any]]:
    from chorale.kits.qasrl.parser.saved import load_parser  # noqa: PLC0415 - needs the extra `models`

    rows = _item_rows(items)
    for row, verb in parsed_items(rows, load_parser(model), load_tagger(), *thresholds):
        recorded = recorded_answer(row, verb, stage)
        asked = recorded["output"]["answer"]
        counts["verbs"] += 1
        counts["questions"] += len(asked)
        counts["answers"] += sum(len(question["answers"]) for question in asked)
        yield recorded


def _item_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of an items file, as `chorale prepare qasrl` writes them."""
    problems: list[Problem] = []
    rows = []
    for row in read_rows(path, shown_as=str(path), problems=problems):
        item = {name: value for name, value in row.values.items() if name != "id"}
        try:
            QASRL_WRITE.shape.parse_row(item)
        except ItemError as error:
            problems.append(Problem(str(path), row.line, str(error), "Create the file with `chorale prepare qasrl`."))
        else:
            rows.append(dict(row.values))
    if problems:
        raise UserError(f"{path} does not contain items for this command.", problems[:5])
    return rows


def _print(out: Path, counts: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        print_json({"file": str(out), **counts})
        return
    asked = plural(counts["questions"], "question", "questions")
    print_line(f"{out}: {asked} about {plural(counts['verbs'], 'verb', 'verbs')}.")
