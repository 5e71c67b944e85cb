"""The QA-SRL family of metrics: files in, a score out, for the command and for Python alike."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Literal

from chorale.files.rows import is_table
from chorale.kits.qasrl.files import QuestionAnswers, joined, read_bank, read_qasrl, read_sentences
from chorale.kits.qasrl.metrics import DenseRules, Rules, align, aligned_arguments, metric, statistics
from chorale.kits.qasrl.scoring.agreement import score_agreement
from chorale.kits.qasrl.scoring.alignment import write_alignment
from chorale.kits.qasrl.scoring.references import score_dense, score_propbank
from chorale.kits.qasrl.scoring.scores import QasrlOptions, score_qasrl
from chorale.kits.srl.files import read_srl
from chorale.metrics.family import Family, Measured, path_of
from chorale.metrics.resampling import Resampling, checked_resampling
from chorale.metrics.sampling import Progress
from chorale.metrics.score import Score
from chorale.metrics.signatures import Setting
from chorale.model import UserError

File = str | PathLike[str]


def score(
    system: File,
    gold: File | None = None,
    *,
    sentences: Sequence[File] = (),
    redundant: bool = True,
    link: Literal["iou", "any"] = "iou",
    modality: bool = True,
    average: Literal["micro", "macro"] = "micro",
    iou: float = 0.5,
    extra_verbs: bool = False,
    by: str | None = None,
    alignment: File | None = None,
    propbank: File | None = None,
    found_by: Literal["head", "span"] = "head",
    dense: bool = False,
    valid: int = 5,
    questions_by: Literal["people", "anyone"] = "people",
    per_verb: bool = False,
    against: File | None = None,
    ci: bool = True,
    resamples: int = 1000,
    seed: int = 1,
    progress: Progress | None = None,
    for_scripts: bool = True,
) -> Score:
    """Questions and answers about verbs: arguments found (UA), with the right question (LA), and roles.

    Files are CSVs in the gold standard's columns, a parser's CSV, or the QA-SRL Bank's JSONL. `by` names the column
    that tells the annotators of one file apart, for their agreement; `propbank` a CoNLL-2009 file to compare with
    instead of the gold; with `dense`, the gold is a file of the QA-SRL Bank, and its judges decide.
    """
    gold, propbank, alignment, against = (
        None if path is None else path_of(path) for path in (gold, propbank, alignment, against)
    )
    files = _Files(path_of(system), gold, propbank, alignment, against, sentences, by, valid, questions_by == "people")
    files.check(dense=dense)
    changed = {
        "--no-redundant": not redundant,
        "--link": link != "iou",
        "--no-modality": not modality,
        "--average": average != "micro",
        "--include-extra-verbs": extra_verbs,
        "--per-verb": per_verb,
        "--iou": propbank is not None and iou != _IOU,
    }
    if propbank or dense:
        _refuse("--propbank" if propbank else "--dense", changed)
    if not propbank:
        _refuse("anything but --propbank", {"--found-by": found_by != "head"})
    of_bank = files.bank_settings()
    options = QasrlOptions(Rules(iou, redundant, link, modality, extra_verbs), average, of_bank, per_verb)
    resampling = replace(checked_resampling(ci, resamples, seed), progress=progress)
    if by:
        return files.agreement(by, options, resampling, for_scripts=for_scripts)
    if propbank:
        return files.propbank(found_by, resampling, of_bank)
    return files.dense(iou, resampling) if dense else files.scores(options, resampling)


_IOU = 0.5


def read(path: File) -> QuestionAnswers:
    """Questions and answers in any format of the family."""
    return read_qasrl(path_of(path))


def measure(
    system: QuestionAnswers, gold: QuestionAnswers, *, average: Literal["micro", "macro"] = "micro", iou: float = _IOU
) -> Measured:
    """A row of counts for every verb, and UA, LA and role from their sum."""
    return statistics(align(system, gold, Rules(iou))), metric(average)


_SUMMARY = "Questions and answers about verbs: arguments found (UA), with the right question (LA), and roles."
FAMILY = Family("qasrl", _SUMMARY, read, measure, score)


def _refuse(mode: str, changed: Mapping[str, bool]) -> None:
    """An option that would change nothing must not be taken for having an effect."""
    without = [option for option, is_changed in changed.items() if is_changed]
    if without:
        raise UserError(f"{' and '.join(without)} would change nothing with {mode}. Leave it out.")


@dataclass(frozen=True)
class _Files:
    """What is scored, against what; read when it is needed."""

    system: Path
    gold: Path | None
    corpus: Path | None
    alignment: Path | None
    against: Path | None
    sentence_files: Sequence[File]
    by: str | None
    valid: int
    people_only: bool

    @cached_property
    def sources(self) -> list[tuple[str, dict[str, tuple[str, ...]]]]:
        paths = map(path_of, self.sentence_files)
        return [(str(path), read_sentences(path)) for path in paths]

    def check(self, *, dense: bool) -> None:
        """Refuse options that exclude each other."""
        modes = [
            name for name, given in {"--by": self.by, "--propbank": self.corpus, "--dense": dense}.items() if given
        ]
        if len(modes) > 1:
            raise UserError(f"{' and '.join(modes)} exclude each other. Leave all but one out.")
        if self.gold is None and (not modes or dense):
            raise UserError("There is no GOLD. Name the file to score against, or take --by or --propbank.")
        if self.gold is not None and (self.by or self.corpus):
            raise UserError(f"{modes[0]} takes one file. Leave {self.gold} out.")
        if self.alignment is not None and modes:
            raise UserError(f"There is no alignment with {modes[0]}. Leave --alignment out.")

    def bank_settings(self) -> dict[str, Setting] | None:
        """How files of the QA-SRL Bank are read, for the signature; None if there are none."""
        if all(file is None or is_table(file) for file in (self.system, self.gold, self.against)):
            return None
        return {"valid": self.valid, "questions-by": "people" if self.people_only else "anyone"}

    def agreement(self, by: str, options: QasrlOptions, resampling: Resampling, *, for_scripts: bool) -> Score:
        table = self._read(self.system)
        return score_agreement(table, by, options, resampling, self._rival(), for_scripts=for_scripts)

    def propbank(
        self, found_by: Literal["head", "span"], resampling: Resampling, reading: Mapping[str, Setting] | None
    ) -> Score:
        table, other = self._read(self.system), self._rival()
        corpus = read_srl(self.corpus or self.system)
        return score_propbank(table, corpus, self._known(table), found_by, resampling, other, reading)

    def dense(self, iou: float, resampling: Resampling) -> Score:
        if self.gold is None or is_table(self.gold):
            raise UserError(f"{self.gold} is a table. With --dense, GOLD is a JSONL file of the QA-SRL Bank.")
        bank, other = read_bank(self.gold), self._rival()
        rules = DenseRules(self.valid, iou, self.people_only)
        return score_dense(self._read(self.system), bank, rules, resampling, other)

    def scores(self, options: QasrlOptions, resampling: Resampling) -> Score:
        system, gold = self._read(self.system), self._read(self.gold or self.system, gold=True)
        other = self._rival()
        known = self._known(gold, system)
        scored, aligned = score_qasrl(system, gold, options, resampling, other)
        if self.alignment is None:
            return scored
        names = self.system.name, Path(gold.name).name
        write_alignment(self.alignment, aligned_arguments(aligned, known), known, names, scored.signature)
        mentioned = {verb.sentence for verb in gold.verbs}
        lacking = mentioned - known.keys()
        if not lacking:
            return scored
        note = (
            f"{self.alignment.name} has ranges and no words where the sentence is not known, in {len(lacking):,} of "
            f"{len(mentioned):,}: give the sentences with --sentences."
        )
        return replace(scored, notes=[*scored.notes, note])

    def _rival(self) -> QuestionAnswers | None:
        return None if self.against is None else self._read(self.against)

    def _read(self, path: Path, *, gold: bool = False) -> QuestionAnswers:
        """A system may point outside a sentence, which is wrong like any wrong answer; a gold standard may not."""
        return read_qasrl(
            path,
            joined(self.sources),
            by=self.by,
            valid=self.valid,
            people_only=self.people_only,
            may_leave_sentence=not gold,
        )

    def _known(self, *tables: QuestionAnswers) -> dict[str, tuple[str, ...]]:
        """Tokens from wherever they are known. Two files that differ in them are refused."""
        return joined([*self.sources, *((table.name, table.sentences) for table in tables)])
