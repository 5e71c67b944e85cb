"""The QA-SRL family of metrics: reads files and computes scores, for the command line and for Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from chorale.files.rows import is_table
from chorale.files.targets import check_target, writing
from chorale.kits.qasrl.files import QuestionAnswers, Verb, joined, read_bank, read_qasrl, read_sentences
from chorale.kits.qasrl.metrics import DenseRules, Rules, align, aligned_arguments, metric, statistics
from chorale.kits.qasrl.metrics.propbank import Holding
from chorale.kits.qasrl.scoring.agreement import score_agreement
from chorale.kits.qasrl.scoring.alignment import write_alignment
from chorale.kits.qasrl.scoring.corrections import with_corrections
from chorale.kits.qasrl.scoring.references import score_dense, score_propbank
from chorale.kits.qasrl.scoring.scores import QasrlOptions, score_qasrl
from chorale.kits.srl.files import read_srl
from chorale.metrics import Clusters
from chorale.metrics.family import Family, Measured, path_of
from chorale.metrics.options import Against, Cluster, File, Force, Resamples, Seed, WithIntervals
from chorale.metrics.reading.cluster_columns import table_columns
from chorale.metrics.resampling import Resampling, checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.metrics.signatures import Setting
from chorale.model import UserError
from chorale.registry.options import Argument, Option

System = Annotated[
    File,
    Argument(
        metavar="PRED",
        help="System output: a CSV with the columns of the gold standard, a parser's CSV, or JSONL (.gz) of the "
        "QA-SRL Bank.",
    ),
]
Gold = Annotated[
    File | None,
    Argument(metavar="GOLD", help="Gold standard, in the same formats as PRED. Omit with --by and --propbank."),
]
SentenceFiles = Annotated[
    Sequence[File],
    Option(help="Sentences (qasrl_id and tokens), to show words in --alignment and to check spans. Repeatable."),
]
Redundant = Annotated[
    bool,
    Option(
        "--redundant/--no-redundant",
        help="Ignore additional spans of a matched argument, and count overlapping spurious spans once.",
    ),
]
LinkName = Annotated[
    Literal["iou", "any"],
    Option(
        metavar="HOW",
        help="How to decide whether spurious spans overlap: iou (minimum --iou) or any (one common token is enough).",
    ),
]
Modality = Annotated[
    bool,
    Option(
        "--modality/--no-modality",
        help="Whether questions must agree in modality. The gold standard's own script ignores modality.",
    ),
]
QuestionsName = Annotated[
    Literal["assigned", "any", "authors"],
    Option(
        metavar="HOW",
        help="How LA and role compare the questions of an argument. assigned: every extra question is an error. any: "
        "one equivalent question is enough. authors: as in the gold standard's own script.",
    ),
]
AverageName = Annotated[
    Literal["micro", "macro"], Option(metavar="HOW", help="micro: sums over verbs; macro: the mean over verbs.")
]
Iou = Annotated[
    float, Option(metavar="X", min=0.01, max=1.0, help="Minimum overlap of two spans that count as one argument.")
]
ExtraVerbs = Annotated[
    bool, Option("--include-extra-verbs", help="Also count verbs that only PRED has. Their arguments count as errors.")
]
SharedVerbs = Annotated[
    bool,
    Option("--shared-verbs", help="Score only verbs that occur in all files: PRED, GOLD or PropBank, and --against."),
]
CorrectionsFile = Annotated[
    File | None,
    Option(
        help="A table written by --alignment with manual corrections of status and same_role. Adds corrected UA and LA."
    ),
]
By = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Compute agreement between the annotators of one file, identified by this column, e.g. worker_id.",
    ),
]
AlignmentFile = Annotated[
    File | None, Option(help="Write matched, missed and spurious arguments to a .csv or .html file.")
]
PropBankFile = Annotated[
    File | None, Option(help="Compare with PropBank arguments in a CoNLL-2009 file, instead of GOLD.")
]
FoundBy = Annotated[
    Holding,
    Option(
        metavar="HOW",
        help="How an answer matches a PropBank argument: it contains the head or, for a preposition, its object "
        "(head), contains the head itself (head-itself), or overlaps the span (span).",
    ),
]
Dense = Annotated[
    bool,
    Option(help="Compute the measures of FitzGerald et al. from the judgments in GOLD, a file of the QA-SRL Bank."),
]
QuestionsBy = Annotated[
    Literal["people", "anyone"],
    Option(
        metavar="WHO",
        help="Which questions of the QA-SRL Bank count: people (only those written by people) or anyone (all).",
    ),
]
Valid = Annotated[int, Option(min=1, max=6, help="Number of the Bank's six judges who must call a question valid.")]


def score(
    system: System,
    gold: Gold = None,
    *,
    sentences: SentenceFiles = (),
    redundant: Redundant = True,
    link: LinkName = "iou",
    modality: Modality = True,
    questions: QuestionsName = "assigned",
    average: AverageName = "micro",
    iou: Iou = 0.5,
    extra_verbs: ExtraVerbs = False,
    shared_verbs: SharedVerbs = False,
    by: By = None,
    alignment: AlignmentFile = None,
    corrections: CorrectionsFile = None,
    force: Force = True,
    propbank: PropBankFile = None,
    found_by: FoundBy = "head",
    dense: Dense = False,
    valid: Valid = 5,
    questions_by: QuestionsBy = "people",
    per_verb: Annotated[bool, Option(help="With --json, also print the counts of every verb.")] = False,
    against: Against = None,
    ci: WithIntervals = True,
    cluster: Cluster = ("sentence",),
    resamples: Resamples = 1000,
    seed: Seed = 1,
    progress: Progress | None = None,
    for_scripts: bool = True,
) -> Score:
    """Questions and answers about verbs: unlabelled arguments (UA), labelled arguments (LA) and roles.

    Files are CSVs with the columns of the gold standard, a parser's CSV, or JSONL of the QA-SRL Bank. `by` names the
    column that identifies the annotators of one file, to compute their agreement. `propbank` is a CoNLL-2009 file to
    compare with instead of the gold. With `dense`, the gold is a file of the QA-SRL Bank with its judgments.
    """
    gold, propbank, alignment, corrections, against = (
        None if path is None else path_of(path) for path in (gold, propbank, alignment, corrections, against)
    )
    check_target(alignment, "--alignment", force=force, endings=(".csv", ".html", ".htm"))
    files = _Files(
        path_of(system), gold, propbank, alignment, corrections, against, sentences, by, valid, questions_by, cluster,
        shared_verbs,
    )  # fmt: skip
    files.check(dense=dense, extra_verbs=extra_verbs)
    rules = Rules(iou, redundant, link, modality, extra_verbs, questions)
    if propbank or dense:
        changed = {"--average": average != "micro", "--per-verb": per_verb, "--iou": bool(propbank) and iou != _IOU}
        _refuse("--propbank" if propbank else "--dense", {**_changed(rules), **changed})
    if not propbank and found_by != "head":
        raise UserError("--found-by only applies with --propbank. Add --propbank, or omit --found-by.")
    of_bank = files.reading_settings()
    options = QasrlOptions(rules, average, of_bank, per_verb)
    resampling = checked_resampling(ci, resamples, seed, progress)
    if by:
        return files.agreement(by, options, resampling, for_scripts=for_scripts)
    if propbank:
        return files.propbank(found_by, resampling, of_bank)
    return files.dense(iou, resampling) if dense else files.scores(options, resampling)


_IOU = 0.5


def read(path: File) -> QuestionAnswers:
    """Reads questions and answers in any supported format."""
    return read_qasrl(path_of(path))


def measure(
    system: QuestionAnswers, gold: QuestionAnswers, *, average: Literal["micro", "macro"] = "micro", iou: float = _IOU
) -> Measured:
    """One row of counts per verb, and UA, LA and role computed from their sum."""
    return statistics(align(system, gold, Rules(iou))), metric(average)


_SUMMARY = "Questions and answers about verbs: unlabelled arguments (UA), labelled arguments (LA) and roles."
FAMILY = Family("qasrl", _SUMMARY, read, measure, score)


def _verb_of(row: Mapping[str, Any]) -> str:
    """The verb of a table row."""
    return str(Verb(str(row.get("qasrl_id", "")), int(row.get("verb_idx") or row.get("target_idx") or 0)))


def _changed(rules: Rules) -> dict[str, bool]:
    """The options of the matching rules, except the overlap, and whether they differ from the defaults."""
    return {
        "--no-redundant": not rules.redundant,
        "--link": rules.link != "iou",
        "--no-modality": not rules.modality,
        "--include-extra-verbs": rules.extra_verbs,
        "--questions": rules.questions != "assigned",
    }


def _refuse(mode: str, changed: Mapping[str, bool]) -> None:
    """Rejects options that have no effect in this mode."""
    without = [option for option, is_changed in changed.items() if is_changed]
    if len(without) > 1:
        raise UserError(f"{', '.join(without[:-1])} and {without[-1]} have no effect with {mode}. Omit them.")
    if without:
        raise UserError(f"{without[0]} has no effect with {mode}. Omit it.")


@dataclass(frozen=True)
class _Files:
    """The system and the reference to score against. Files are read when needed."""

    system: Path
    gold: Path | None
    corpus: Path | None
    alignment: Path | None
    corrections: Path | None
    against: Path | None
    sentence_files: Sequence[File]
    by: str | None
    valid: int
    questions_by: Literal["people", "anyone"]
    cluster: Sequence[str]
    shared_verbs: bool

    @property
    def people_only(self) -> bool:
        return self.questions_by == "people"

    @cached_property
    def sources(self) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
        paths = map(path_of, self.sentence_files)
        return [(str(path), read_sentences(path)) for path in paths]

    def check(self, *, dense: bool, extra_verbs: bool) -> None:
        """Rejects options that exclude each other."""
        modes = [
            name for name, given in {"--by": self.by, "--propbank": self.corpus, "--dense": dense}.items() if given
        ]
        if len(modes) > 1:
            raise UserError(f"{' and '.join(modes)} cannot be combined. Use only one of them.")
        if self.gold is None and (not modes or dense):
            raise UserError("GOLD is missing. Add the file to score against, or use --by or --propbank.")
        if self.gold is not None and (self.by or self.corpus):
            raise UserError(f"{modes[0]} takes only one file. Remove {self.gold}.")
        if (self.alignment is not None or self.corrections is not None) and modes:
            raise UserError(f"{modes[0]} does not compute an alignment. Omit --alignment and --corrections.")
        if self.shared_verbs and (extra_verbs or self.by or dense):
            other = "--include-extra-verbs" if extra_verbs else modes[0]
            raise UserError(f"--shared-verbs and {other} cannot be combined. Use only one of them.")

    def reading_settings(self) -> dict[str, Setting] | None:
        """Options for common verbs and for files of the QA-SRL Bank, for the signature; None if neither applies."""
        shared: dict[str, Setting] = {"verbs": "shared"} if self.shared_verbs else {}
        if all(file is None or is_table(file) for file in (self.system, self.gold, self.against)):
            return shared or None
        return {**shared, "valid": self.valid, "questions-by": "people" if self.people_only else "anyone"}

    def agreement(self, by: str, options: QasrlOptions, resampling: Resampling, *, for_scripts: bool) -> Score:
        table, other = self._read(self.system), self._rival()
        resampling = self._clustered(resampling, table, other)
        return score_agreement(table, by, options, resampling, other, for_scripts=for_scripts)

    def propbank(self, found_by: Holding, resampling: Resampling, reading: Mapping[str, Setting] | None) -> Score:
        table, other = self._read(self.system), self._rival()
        corpus = read_srl(self.corpus or self.system)
        if self.shared_verbs and other is not None:
            verbs = table.verbs_with_rows() & other.verbs_with_rows()
            table, other = table.of_verbs(verbs), other.of_verbs(verbs)
        resampling = self._clustered(resampling, table, other)
        return score_propbank(table, corpus, self._known(table), found_by, resampling, other, reading)

    def dense(self, iou: float, resampling: Resampling) -> Score:
        if self.gold is None or is_table(self.gold):
            raise UserError(f"{self.gold} is a table. With --dense, GOLD must be a JSONL file of the QA-SRL Bank.")
        bank, other = read_bank(self.gold), self._rival()
        rules, system = DenseRules(self.valid, iou, self.people_only), self._read(self.system)
        resampling = self._clustered(resampling, system, other, verbs=bank.questions)
        return score_dense(system, bank, rules, resampling, other)

    def scores(self, options: QasrlOptions, resampling: Resampling) -> Score:
        system, gold = self._read(self.system), self._read(self.gold or self.system, gold=True)
        other = self._rival()
        if self.shared_verbs:
            verbs = set.intersection(*(each.verbs_with_rows() for each in (system, gold, other) if each is not None))
            system, gold = system.of_verbs(verbs), gold.of_verbs(verbs)
            other = None if other is None else other.of_verbs(verbs)
        known = self._known(gold, system)
        resampling = self._clustered(resampling, system, gold, other)
        scored, aligned = score_qasrl(system, gold, options, resampling, other)
        if self.corrections is not None:
            per_verb = statistics(aligned)
            arguments = aligned_arguments(aligned, known)
            scored = with_corrections(scored, self.corrections, arguments, per_verb, options.average, resampling)
        if self.alignment is None:
            return scored
        names = self.system.name, Path(gold.name).name
        with writing(self.alignment, "--alignment"):
            write_alignment(self.alignment, aligned_arguments(aligned, known), known, names, scored.signature)
        mentioned = {verb.sentence for verb in gold.verbs}
        lacking = mentioned - known.keys()
        if not lacking:
            return scored
        note = (
            f"{self.alignment.name} has token ranges instead of words for {len(lacking):,} of {len(mentioned):,} "
            "sentences, because their texts are missing. Use --sentences to add the texts."
        )
        return replace(scored, notes=[*scored.notes, note])

    def _clustered(
        self, resampling: Resampling, *tables: QuestionAnswers | None, verbs: Iterable[Verb] = ()
    ) -> Resampling:
        """Clusters for resampling: verbs of a sentence, or with the same value in a column of the reference."""
        known = {*verbs, *(verb for table in tables if table is not None for verb in table.verbs)}
        columns = {"verb": {str(verb): str(verb) for verb in known}}
        columns["sentence"] = {str(verb): verb.sentence for verb in known}
        names = Clusters.named(self.cluster)
        wanted = [name for name in names if name not in columns]
        reference = self.gold or self.system
        if wanted and is_table(reference):
            columns |= table_columns([reference], wanted, _verb_of)
        return replace(resampling, clusters=Clusters.chosen(names, columns))

    def _rival(self) -> QuestionAnswers | None:
        return None if self.against is None else self._read(self.against)

    def _read(self, path: Path, *, gold: bool = False) -> QuestionAnswers:
        """Reads a table. Answers outside their sentence are errors of a system, but make a gold standard invalid."""
        return read_qasrl(
            path,
            joined(self.sources),
            by=self.by,
            valid=self.valid,
            people_only=self.people_only,
            may_leave_sentence=not gold,
        )

    def _known(self, *tables: QuestionAnswers) -> dict[str, tuple[str, ...]]:
        """Tokens from all files that have them. Files with different tokens for a sentence are an error."""
        return joined([*self.sources, *((table.name, table.sentences) for table in tables)])
