"""`chorale gold`"""

import json
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.terminal import show
from chorale.contract import AnswerError
from chorale.engine import gold_desk
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_everything
from chorale.engine.started import stage_called, started_study
from chorale.model import UserError
from chorale.monitor.tables import candidates_table, gold_table
from chorale.store import gold_rows
from chorale.store.gold_rows import GoldRow
from chorale.store.item_rows import ItemRow

BY = "the command line"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the options ask for."""

    promote_unanimous: bool
    promote: str | None
    answer: str | None
    explanation: str | None
    retire: str | None
    reason: str | None


def gold(
    directory: StudyFolder,
    stage: Annotated[
        str | None, Option(metavar="STAGE", help="The stage; all of them if not given.", show_default=False)
    ] = None,
    promote_unanimous: Annotated[
        bool, Option("--promote-unanimous", help="Make gold of every item all judgments of which agree.")
    ] = False,
    promote: Annotated[str | None, Option(metavar="ITEM", help="Make gold of this item.", show_default=False)] = None,
    answer: Annotated[str | None, Option(metavar="ANSWER", help="The right answer to it.", show_default=False)] = None,
    explanation: Annotated[
        str | None,
        Option(metavar="TEXT", help="What workers who answer it wrongly will read.", show_default=False),
    ] = None,
    retire: Annotated[
        str | None, Option(metavar="ITEM", help="Use this item as gold no longer.", show_default=False)
    ] = None,
    reason: Annotated[str | None, Option(metavar="TEXT", help="Why; kept with the study.", show_default=False)] = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List a study's gold and what could become gold after a pilot; make gold, retire it."""
    wanted = _Wanted(promote_unanimous, promote, answer, explanation, retire, reason)
    _check(wanted)
    with started_study(directory, db) as study:
        settle_everything(study)
        stages = list(study.stages.values()) if stage is None else [stage_called(study, stage)]
        result = _change(study, stages, wanted) if _changes(wanted) else _list(study, stages)
    if as_json:
        print_json(result)
    elif _changes(wanted):
        _print_changes(result)
    else:
        _print_lists(result)


def _changes(wanted: _Wanted) -> bool:
    return wanted.promote_unanimous or wanted.promote is not None or wanted.retire is not None


def _check(wanted: _Wanted) -> None:
    """Half of what an action needs is a mistake, not something to guess the rest of."""
    if wanted.promote is not None and (wanted.answer is None or wanted.explanation is None):
        raise UserError("--promote needs the right answer (--answer) and what to tell workers (--explanation).")
    if wanted.promote is None and (wanted.answer is not None or wanted.explanation is not None):
        raise UserError("--answer and --explanation belong to --promote ITEM.")
    if wanted.retire is not None and not (wanted.reason or "").strip():
        raise UserError("--retire needs a reason (--reason): it is kept with the study.")
    if wanted.retire is None and wanted.reason is not None:
        raise UserError("--reason belongs to --retire ITEM.")


def _change(study: Study, stages: list[RunningStage], wanted: _Wanted) -> dict[str, Any]:
    promoted: dict[str, int] = {}
    if wanted.promote_unanimous:
        for stage in stages:
            if stage.settings.gold is not None:
                promoted[stage.name] = gold_desk.promote_unanimous(study, stage, BY)
    if wanted.promote is not None:
        stage, key = _only(stages), wanted.promote
        answer, explanation = _parsed(stage, wanted.answer or ""), wanted.explanation or ""
        study.store.write(lambda tx: gold_desk.promote(tx, study, stage, key, answer, explanation, BY)).result()
        promoted[stage.name] = promoted.get(stage.name, 0) + 1
    if wanted.retire is not None:
        stage, key, reason = _only(stages), wanted.retire, wanted.reason or ""
        study.store.write(lambda tx: gold_desk.retire(tx, study, stage, key, BY, reason)).result()
    return {"promoted": promoted, "retired": wanted.retire}


def _only(stages: list[RunningStage]) -> RunningStage:
    if len(stages) > 1:
        raise UserError(f"Say which stage the item is in: --stage {' or --stage '.join(s.name for s in stages)}.")
    return stages[0]


def _parsed(stage: RunningStage, text: str) -> Any:
    """The answer as typed, or as JSON for tasks whose answers are not plain text."""
    try:
        stage.task.shape.parse_answer(text)
    except AnswerError:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _list(study: Study, stages: list[RunningStage]) -> dict[str, Any]:
    stages_listed = []
    for stage in stages:
        rows = study.store.read(
            partial(gold_rows.gold_items, stage_name=stage.name, lowest_correct=stage.lowest_correct)
        ).result()
        candidates = study.store.read(partial(gold_desk.candidates, stage=stage)).result()
        stages_listed.append(
            {
                "stage": stage.name,
                "gold": [_gold_as_json(stage, row) for row in rows],
                "unanimous": [_candidate_as_json(stage, item) for item in candidates.unanimous],
                "confusing": [_candidate_as_json(stage, item) for item in candidates.confusing],
            }
        )
    return {"stages": stages_listed}


def _gold_as_json(stage: RunningStage, row: GoldRow) -> dict[str, Any]:
    return {
        "item": row.key,
        "view": stage.task.form.view(row.payload),
        "answer": row.answer,
        "explanation": row.explanation,
        "origin": row.origin,
        "active": row.active,
        "answered": row.answered,
        "right": row.right,
    }


def _candidate_as_json(stage: RunningStage, item: ItemRow) -> dict[str, Any]:
    return {
        "item": item.key,
        "view": stage.task.form.view(item.payload),
        "answer": item.answer,
        "confidence": item.confidence,
        "judgments": item.judgments,
    }


def _print_changes(result: dict[str, Any]) -> None:
    for stage, count in result["promoted"].items():
        print_line(f"Made gold of {count:,} {'item' if count == 1 else 'items'} of {stage}.")
    if result["retired"] is not None:
        print_line(f"Retired {result['retired']}.")


def _print_lists(result: dict[str, Any]) -> None:
    for stage in result["stages"]:
        print_line(f"{stage['stage']}: {len(stage['gold']):,} gold")
        show(gold_table(stage["gold"]))
        for kind, hint in (
            ("unanimous", "make all of them gold with --promote-unanimous"),
            ("confusing", "make one gold with --promote ITEM --answer ANSWER --explanation TEXT"),
        ):
            if stage[kind]:
                print_line(f"{stage['stage']}: {len(stage[kind]):,} {kind}; {hint}")
                show(candidates_table(stage[kind]))
