"""`chorale parse qasrl`"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson, OnePerLine, Texts
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.files.tables import write_csv
from chorale.files.targets import check_target, writing
from chorale.kits.qasrl.parser.parsing import THRESHOLD, ParsedVerb
from chorale.kits.qasrl.parser.running import COLUMNS, parse_given, rows_of
from chorale.metrics.options import Force
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.text.sentence_files import IDS, read_given


def qasrl(
    texts: Texts,
    model: Annotated[Path, Option(metavar="DIR", help="The parser: a folder that `chorale train qasrl` wrote.")],
    out: Annotated[Path, Option(help="Where to write the questions and answers: .csv.")],
    threshold: Annotated[
        float,
        Option(min=0.0, max=1.0, help="Minimum probability of an answer: higher for precision, lower for recall."),
    ] = THRESHOLD,
    processes: Annotated[int, Option(min=1, max=256, help="Number of processes.")] = 1,
    one_per_line: OnePerLine = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Annotate a text with questions and answers by a trained parser, for `chorale evaluate qasrl`."""
    need("torch", "safetensors", "spacy")
    check_target(out, "--out", force=force, endings=(".csv",))
    counts = {"verbs": 0, "questions": 0, "answers": 0}
    with patiently("sentences") as progress, writing(out, "--out"):
        given = read_given(texts, one_per_line=one_per_line, ids=(*IDS, "qasrl_id"))

        def counted() -> Iterator[ParsedVerb]:
            for verb in parse_given(given, model, threshold, processes, progress):
                counts["verbs"] += 1
                counts["questions"] += len(verb.questions)
                counts["answers"] += sum(len(question.spans) for question in verb.questions)
                yield verb

        write_csv(COLUMNS, rows_of(counted()), out)
    if as_json:
        print_json({"file": str(out), **counts})
        return
    asked = plural(counts["questions"], "question", "questions")
    print_line(f"{out}: {asked} about {plural(counts['verbs'], 'verb', 'verbs')}.")
