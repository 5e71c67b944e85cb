"""`chorale prepare rules`"""

from pathlib import Path
from typing import Annotated

from chorale.cli.arguments import AsJson
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Seed
from chorale.cli.targets import Force, check_target, writing
from chorale.cli.terminal import show
from chorale.files.tables import write_csv, write_jsonl
from chorale.kits.rules.commands.learn import ArgumentNames, Columns, PredicateNames, Strict
from chorale.kits.rules.files.extractions import extraction_tables, names_of
from chorale.kits.rules.learning.applying import apply_rules
from chorale.kits.rules.preparing import items_result
from chorale.present.scoring import score_table

Extractions = Annotated[
    Path, Argument(metavar="EXTRACTIONS", help="What to apply rules to, as for chorale learn rules.")
]
Rules = Annotated[
    list[Path], Argument(metavar="RULES...", help="One or more files of rules, as for chorale evaluate rules.")
]
Out = Annotated[Path, Option("--out", metavar="FILE", help="Where the items go: a .jsonl or .csv file.")]
Sample = Annotated[int, Option("--sample", metavar="N", min=1, help="How many extractions to draw.")]
PerExtraction = Annotated[
    int, Option("--per-extraction", metavar="N", min=1, help="How many rules to draw for each extraction.")
]
AtLeast = Annotated[
    int | None,
    Option(
        "--at-least",
        metavar="N",
        min=1,
        help="Draw among extractions that so many rules fit. As many as --per-extraction if not given.",
    ),
]


def rules(
    extractions: Extractions,
    rule_files: Rules,
    out: Out = Path("items.jsonl"),
    sample: Sample = 5000,
    per_extraction: PerExtraction = 4,
    at_least: AtLeast = None,
    columns: Columns = None,
    argument_names: ArgumentNames = None,
    predicate_names: PredicateNames = None,
    strict: Strict = False,
    seed: Seed = 1,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Apply inference rules to extractions, and write the applications as items for people to judge."""
    check_target(out, "--out", force=force, endings=(".jsonl", ".csv"))
    with patiently("extractions"):
        names = names_of(argument_names, predicate_names)
        tables, outcome = extraction_tables(extractions, columns=columns, names=names, strict=strict)
        fewest = per_extraction if at_least is None else at_least
        applied = apply_rules(
            tables, rule_files, sample=sample, per_extraction=per_extraction, at_least=fewest, seed=seed
        )
    items = list(applied.items())
    with writing(out, "--out"):
        if out.suffix.lower() == ".csv":
            write_csv(list(items[0]) if items else ["id"], items, out)
        else:
            write_jsonl(items, out)
    described = items_result(applied, outcome(), sample)
    if as_json:
        print_json({**described.json, "out": str(out), "notes": list(described.notes)})
        return
    show(*(score_table(table) for table in described.tables))
    print_line(f"{out} has {len(items):,} applications.")
    print_notes(described.notes)
