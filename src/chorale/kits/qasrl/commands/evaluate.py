"""`chorale evaluate qasrl`"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from chorale.cli.arguments import AsJson
from chorale.cli.parameters import Argument, Option
from chorale.cli.progress import patiently
from chorale.cli.scoring import Against, AsLatex, Resamples, Seed, WithIntervals, print_scored
from chorale.cli.targets import Force, check_target, writing
from chorale.files.rows import is_table
from chorale.kits.qasrl.files import QuestionAnswers, joined, read_bank, read_qasrl, read_sentences
from chorale.kits.qasrl.metrics import DenseRules, Rules, aligned_arguments
from chorale.kits.qasrl.scoring.agreement import score_agreement
from chorale.kits.qasrl.scoring.alignment import write_alignment
from chorale.kits.qasrl.scoring.references import score_dense, score_propbank
from chorale.kits.qasrl.scoring.scores import QasrlOptions, score_qasrl
from chorale.kits.srl.files import read_srl
from chorale.metrics.drawing import Drawing
from chorale.metrics.signature import Setting
from chorale.model import UserError
from chorale.present.scoring import Scored

Pred = Annotated[
    Path,
    Argument(
        metavar="PRED",
        help="What is scored: a CSV in the gold standard's columns, a parser's CSV, or the QA-SRL Bank's JSONL (.gz).",
        show_default=False,
    ),
]
Gold = Annotated[
    Path | None,
    Argument(
        metavar="GOLD",
        help="What it is scored against, in any of the same formats. Not with --by and --propbank.",
        show_default=False,
    ),
]
SentenceFiles = Annotated[
    list[Path] | None,
    Option(
        "--sentences",
        metavar="FILE",
        help="The sentences, with qasrl_id and tokens: for the words in --alignment, and to check spans. Repeatable.",
        show_default=False,
    ),
]
Redundant = Annotated[
    bool,
    Option(
        "--redundant/--no-redundant",
        help="Ignore further spans of a found argument, and count overlapping wrong ones once.",
    ),
]
LinkName = Annotated[
    Literal["iou", "any"],
    Option("--link", metavar="HOW", help="Which wrong spans overlap: by the same iou, or by any token."),
]
Modality = Annotated[
    bool,
    Option(
        "--modality/--no-modality",
        help="Whether questions must agree in modality; the gold standard's own script does not ask for it.",
    ),
]
AverageName = Annotated[
    Literal["micro", "macro"],
    Option("--average", metavar="HOW", help="micro: sums over verbs; macro: the mean over verbs."),
]
Iou = Annotated[
    float,
    Option("--iou", metavar="X", min=0.01, max=1.0, help="From which overlap on two spans may be one argument."),
]
ExtraVerbs = Annotated[
    bool, Option("--include-extra-verbs", help="Count verbs that only PRED has: all their arguments are wrong.")
]
By = Annotated[
    str | None,
    Option(
        "--by",
        metavar="COLUMN",
        help="Agreement of the annotators of one file, told apart by this column: worker_id.",
        show_default=False,
    ),
]
AlignmentFile = Annotated[
    Path | None,
    Option(
        "--alignment",
        metavar="FILE",
        help="Write what was matched, missed and wrong to a .csv or .html file.",
        show_default=False,
    ),
]
PropBankFile = Annotated[
    Path | None,
    Option(
        "--propbank",
        metavar="FILE",
        help="Compare with PropBank arguments in a CoNLL-2009 file, instead of GOLD.",
        show_default=False,
    ),
]
FoundBy = Annotated[
    Literal["head", "span"],
    Option(
        "--found-by", metavar="HOW", help="A PropBank argument is found by an answer with its head, or by its span."
    ),
]
Dense = Annotated[
    bool,
    Option("--dense", help="FitzGerald et al.'s measures, by the judges of GOLD, a file of the QA-SRL Bank."),
]
Valid = Annotated[
    int,
    Option("--valid", metavar="N", min=1, max=6, help="Of six judges of the Bank, how many make it valid."),
]
QuestionsBy = Annotated[
    Literal["people", "anyone"],
    Option("--questions-by", metavar="WHO", help="Which questions of the Bank count: people's, or anyone's."),
]
PerVerb = Annotated[bool, Option("--per-verb", help="With --json, give the counts of every verb too.")]


def qasrl(
    pred: Pred,
    gold: Gold = None,
    sentences: SentenceFiles = None,
    redundant: Redundant = True,
    link: LinkName = "iou",
    modality: Modality = True,
    average: AverageName = "micro",
    iou: Iou = 0.5,
    extra_verbs: ExtraVerbs = False,
    by: By = None,
    alignment: AlignmentFile = None,
    force: Force = False,
    propbank: PropBankFile = None,
    found_by: FoundBy = "head",
    dense: Dense = False,
    valid: Valid = 5,
    questions_by: QuestionsBy = "people",
    per_verb: PerVerb = False,
    against: Against = None,
    ci: WithIntervals = False,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Score questions and answers about verbs: arguments found (UA), with the right question (LA), and roles."""
    _check(gold, by, propbank, alignment, dense=dense)
    check_target(alignment, "--alignment", force=force, endings=(".csv", ".html", ".htm"))
    files = [file for file in (pred, gold, against) if file is not None]
    of_bank = {"valid": valid, "questions-by": questions_by} if not all(map(is_table, files)) else None
    if propbank or dense:
        _refuse(
            "--propbank" if propbank else "--dense",
            {
                "--no-redundant": not redundant,
                "--link": link != "iou",
                "--no-modality": not modality,
                "--average": average != "micro",
                "--include-extra-verbs": extra_verbs,
                "--per-verb": per_verb,
                "--iou": propbank is not None and iou != 0.5,
            },
        )
    if not propbank:
        _refuse("anything but --propbank", {"--found-by": found_by != "head"})
    options = QasrlOptions(Rules(iou, redundant, link, modality, extra_verbs), average, of_bank, per_verb)
    with patiently("resampling") as progress:
        work = _Work(pred, gold, sentences or [], by, valid, questions_by == "people")
        drawing = Drawing(ci, resamples, seed, progress)
        if by:
            scored = work.agreement(by, options, drawing, against, for_scripts=as_json)
        elif propbank:
            scored = work.propbank(propbank, found_by, drawing, against, of_bank)
        elif dense:
            scored = work.dense(iou, drawing, against)
        else:
            scored = work.scores(options, drawing, against, alignment)
    print_scored(scored, as_json=as_json, as_latex=as_latex)


def _check(
    gold: Path | None,
    by: str | None,
    propbank: Path | None,
    alignment: Path | None,
    *,
    dense: bool,
) -> None:
    """Refuse options that exclude each other."""
    modes = [name for name, given in (("--by", by), ("--propbank", propbank), ("--dense", dense)) if given]
    if len(modes) > 1:
        raise UserError(f"{' and '.join(modes)} exclude each other. Leave all but one out.")
    if gold is None and (not modes or dense):
        raise UserError("There is no GOLD. Name the file to score against, or take --by or --propbank.")
    if gold is not None and (by or propbank):
        raise UserError(f"{modes[0]} takes one file. Leave {gold} out.")
    if alignment is not None and modes:
        raise UserError(f"There is no alignment with {modes[0]}. Leave --alignment out.")


def _refuse(mode: str, changed: dict[str, bool]) -> None:
    """An option that would change nothing must not be taken for having an effect."""
    without = [option for option, is_changed in changed.items() if is_changed]
    if without:
        raise UserError(f"{' and '.join(without)} would change nothing with {mode}. Leave it out.")


class _Work:
    """The files, read when they are needed."""

    def __init__(
        self, pred: Path, gold: Path | None, sentences: list[Path], by: str | None, valid: int, people_only: bool
    ) -> None:
        self._pred, self._gold, self._by = pred, gold, by
        self._valid, self._people_only = valid, people_only
        self._sources = [(str(path), read_sentences(path)) for path in sentences]
        self._sentences = joined(self._sources)

    def _read(self, path: Path, *, gold: bool = False) -> QuestionAnswers:
        """A system may point outside a sentence, which is wrong like any wrong answer; a gold standard may not."""
        return read_qasrl(
            path,
            self._sentences,
            by=self._by,
            valid=self._valid,
            people_only=self._people_only,
            may_leave_sentence=not gold,
        )

    def agreement(
        self, by: str, options: QasrlOptions, drawing: Drawing, against: Path | None, *, for_scripts: bool
    ) -> Scored:
        table = self._read(self._pred)
        other = None if against is None else self._read(against)
        return score_agreement(table, by, options, drawing, other, for_scripts=for_scripts)

    def propbank(
        self,
        file: Path,
        found_by: Literal["head", "span"],
        drawing: Drawing,
        against: Path | None,
        reading: Mapping[str, Setting] | None,
    ) -> Scored:
        table = self._read(self._pred)
        other = None if against is None else self._read(against)
        return score_propbank(table, read_srl(file), self._known(table), found_by, drawing, other, reading)

    def dense(self, iou: float, drawing: Drawing, against: Path | None) -> Scored:
        if self._gold is None or is_table(self._gold):
            raise UserError(f"{self._gold} is a table. With --dense, GOLD is a JSONL file of the QA-SRL Bank.")
        bank = read_bank(self._gold)
        other = None if against is None else self._read(against)
        rules = DenseRules(self._valid, iou, self._people_only)
        return score_dense(self._read(self._pred), bank, rules, drawing, other)

    def scores(self, options: QasrlOptions, drawing: Drawing, against: Path | None, alignment: Path | None) -> Scored:
        system, gold = self._read(self._pred), self._read(self._gold or self._pred, gold=True)
        other = None if against is None else self._read(against)
        known = self._known(gold, system)
        scored, aligned = score_qasrl(system, gold, options, drawing, other)
        if alignment is not None:
            names = self._pred.name, Path(gold.name).name
            with writing(alignment, "--alignment"):
                write_alignment(alignment, aligned_arguments(aligned, known), known, names, scored.signature)
            mentioned = {verb.sentence for verb in gold.verbs}
            lacking = mentioned - known.keys()
            if lacking:
                note = (
                    f"{alignment.name} has ranges and no words where the sentence is not known, in {len(lacking):,} of "
                    f"{len(mentioned):,}: give the sentences with --sentences."
                )
                scored = replace(scored, notes=[*scored.notes, note])
        return scored

    def _known(self, *tables: QuestionAnswers) -> dict[str, tuple[str, ...]]:
        """Tokens from wherever they are known. Two files that differ in them are refused."""
        own = [(table.name, table.sentences) for table in tables]
        return joined([*self._sources, *own])
