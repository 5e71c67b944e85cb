"""`chorale prepare qasrl`"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import AsJson, OnePerLine, Texts
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.files.tables import write_jsonl
from chorale.files.targets import check_target, writing
from chorale.kits.qasrl.parser.suggesting import with_suggestions
from chorale.kits.qasrl.preparing import QasrlItems, VerbFilter, qasrl_items
from chorale.metrics.options import Force
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.text.sentence_files import IDS, LONGEST_TOKEN, MOST_TOKENS, read_given
from chorale.text.tagger import load_tagger


def qasrl(
    texts: Texts,
    out: Annotated[Path, Option(help="Output file for the items.")],
    one_per_line: OnePerLine = False,
    copulas: Annotated[bool, Option(help="Also ask about the verb “be” where it is not an auxiliary.")] = False,
    auxiliaries: Annotated[bool, Option(help="Also ask about the auxiliaries be, have and do.")] = False,
    model: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Parser whose questions the page suggests first: a folder written by `chorale train qasrl`. Default: "
            "rule-based questions.",
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Find the verbs of a text: one item each, with the verb's forms, for `chorale new --template qasrl`."""
    check_target(out, "--out", force=force, endings=(".jsonl",))
    with patiently("sentences") as progress:
        given = read_given(texts, one_per_line=one_per_line, ids=(*IDS, "qasrl_id"))
        items = qasrl_items(given, str(texts), VerbFilter(copulas=copulas, auxiliaries=auxiliaries), progress)
        rows = items.rows if model is None else _with_suggestions(items.rows, model)
    with writing(out, "--out"):
        write_jsonl(rows, out)
    if as_json:
        print_json(
            {
                "file": str(out),
                "items": len(items.rows),
                "sentences": items.sentences,
                "sentences_without_verbs": items.without_verbs,
                "sentences_left_out": len(items.left_out),
                "words_left_out": dict(items.unknown),
                "stems_to_check": dict(items.guessed),
                "model": items.model or None,
                "suggested_by": None if model is None else str(model),
            }
        )
        return
    _print_summary(items, out)


def _print_summary(items: QasrlItems, out: Path) -> None:
    """What was written, what was left out and why, and what to check."""
    by = f", found by {items.model}" if items.model else ""
    print_line(
        f"{out}: {plural(len(items.rows), 'verb', 'verbs')} of {plural(items.sentences, 'sentence', 'sentences')}{by}."
    )
    if items.without_verbs:
        print_line(f"{plural(items.without_verbs, 'sentence has', 'sentences have')} no verb to ask about.")
    if items.left_out:
        lines = _some(str(one.line) for one in items.left_out)
        print_line(
            f"{plural(len(items.left_out), 'sentence was', 'sentences were')} left out: more than {MOST_TOKENS} words, "
            f"or a word of more than {LONGEST_TOKEN} characters (lines {lines})."
        )
    if items.unknown:
        them = "it as a verb" if items.unknown.total() == 1 else "them as verbs"
        print_line(
            f"{plural(items.unknown.total(), 'word was', 'words were')} left out because no dictionary lists {them}: "
            f"{_some(items.unknown)}."
        )
    if items.guessed:
        print_line(
            f"Check the forms of {plural(len(items.guessed), 'verb', 'verbs')} not found in any dictionary: "
            f"{_some(f'{word} ({stem})' for word, stem in items.guessed.items())}."
        )


def _some(words: Iterable[str], most: int = 5) -> str:
    """The first few words."""
    listed = list(islice(words, most + 1))
    return ", ".join(listed[:most]) + (" …" if len(listed) > most else "")


def _with_suggestions(rows: Sequence[Mapping[str, Any]], model: Path) -> list[dict[str, Any]]:
    need("torch", "safetensors", "spacy")
    from chorale.kits.qasrl.parser.saved import load_parser  # noqa: PLC0415 - needs the extra `models`

    return list(with_suggestions(rows, load_parser(model), load_tagger()))
