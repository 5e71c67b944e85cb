"""`chorale gold`"""

import json
from functools import partial
from typing import Annotated, Any

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.terminal import show
from chorale.contract import AnswerError
from chorale.contract.answer_words import answer_words, item_words
from chorale.engine import gold_desk
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_everything
from chorale.engine.started import stage_called, started_study
from chorale.model import Item, UserError
from chorale.model.plural import plural
from chorale.monitor.tables import candidates_table, gold_table
from chorale.store.gold import GoldItem, gold_items

TEXT_CHARACTERS = 160
"""Longest text of an item in a table."""


Fields = Annotated[
    list[str] | None,
    Option(
        metavar="NAME",
        help="With --promote-unanimous: a field that becomes gold, and on which everybody must agree. "
        "Repeatable. Default: the fields that decide whether an item is complete.",
    ),
]
Answer = Annotated[
    str | None,
    Option(
        metavar="ANSWER",
        help="With --promote: the correct answer. Write it as JSON if the form has several fields.",
    ),
]
Explanation = Annotated[
    str | None, Option(metavar="TEXT", help="With --promote: why the answer is correct, for feedback to workers.")
]
RetireReason = Annotated[
    str | None, Option(metavar="TEXT", help="With --retire: the reason, kept in the activity log.")
]


def gold(
    directory: StudyFolder,
    stage: Annotated[str | None, Option(metavar="STAGE", help="Only this stage. Default: all stages.")] = None,
    promote_unanimous: Annotated[bool, Option(help="Turn every item with unanimous annotations into gold.")] = False,
    field: Fields = None,
    promote: Annotated[str | None, Option(metavar="ITEM", help="Turn this item into gold.")] = None,
    answer: Answer = None,
    explanation: Explanation = None,
    retire: Annotated[str | None, Option(metavar="ITEM", help="Stop using this item as gold.")] = None,
    reason: RetireReason = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List a study's gold (items with known answers) and the items that could become gold; add or retire gold."""
    if promote is not None and (answer is None or explanation is None):
        raise UserError("--promote needs the correct answer (--answer) and an explanation for workers (--explanation).")
    if promote is None and (answer is not None or explanation is not None):
        raise UserError("--answer and --explanation only work with --promote ITEM.")
    if retire is not None and not (reason or "").strip():
        raise UserError("--retire needs a reason (--reason) for the activity log.")
    if retire is None and reason is not None:
        raise UserError("--reason only works with --retire ITEM.")
    if field and not promote_unanimous:
        raise UserError("--field only works with --promote-unanimous.")
    with started_study(directory, db) as study:
        settle_everything(study)
        stages = list(study.stages.values()) if stage is None else [stage_called(study, stage)]
        if not (promote_unanimous or promote is not None or retire is not None):
            result, show_result = _list(study, stages), _print_lists
        else:
            promoted = _promote_unanimous(study, stages, tuple(field or ())) if promote_unanimous else {}
            if promote is not None:
                chosen = _promote(study, stages, promote, answer or "", explanation or "")
                promoted[chosen] = promoted.get(chosen, 0) + 1
            if retire is not None:
                only = _only(stages)
                study.store.write(lambda tx: gold_desk.retire(tx, study, only, retire, BY, reason or "")).result()
            hidden = [
                name
                for name, count in promoted.items()
                if count and gold_desk.hides_promoted(study, study.stages[name])
            ]
            result, show_result = {"promoted": promoted, "not_shown": hidden, "retired": retire}, _print_changes
    (print_json if as_json else show_result)(result)


def _promote_unanimous(study: Study, stages: list[RunningStage], fields: tuple[str, ...]) -> dict[str, int]:
    with_gold = [stage for stage in stages if stage.settings.gold is not None]
    if not with_gold:
        names = ", ".join(stage.name for stage in stages)
        raise UserError(
            f"No stage has a [stage.gold] table in study.toml (stages: {names}). It can only be added before people "
            "start."
        )
    return {stage.name: gold_desk.promote_unanimous(study, stage, BY, fields) for stage in with_gold}


def _promote(study: Study, stages: list[RunningStage], key: str, typed: str, explanation: str) -> str:
    """Turn one item into gold, and return its stage."""
    stage = _only(stages)
    answer = _parsed(stage, typed)
    study.store.write(lambda tx: gold_desk.promote(tx, study, stage, key, answer, explanation, BY)).result()
    return stage.name


def _only(stages: list[RunningStage]) -> RunningStage:
    if len(stages) > 1:
        raise UserError(f"Name the item's stage: --stage {' or --stage '.join(s.name for s in stages)}.")
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
            partial(gold_items, stage_name=stage.name, lowest_correct=stage.lowest_correct)
        ).result()
        candidates = study.store.read(partial(gold_desk.candidates, stage=stage)).result()
        stages_listed.append(
            {
                "stage": stage.name,
                "has_gold": stage.settings.gold is not None,
                "gold": [_gold_as_json(stage, row) for row in rows],
                "unanimous_fields": candidates.by_field,
                "unanimous": [_candidate_as_json(stage, item) for item in candidates.unanimous],
                "confusing": [_candidate_as_json(stage, item) for item in candidates.confusing],
            }
        )
    return {"stages": stages_listed}


def _gold_as_json(stage: RunningStage, row: GoldItem) -> dict[str, Any]:
    return {
        "item": row.key,
        "view": stage.task.form.shown(row.payload),
        "text": item_words(stage.task, row.payload, TEXT_CHARACTERS),
        "answer": row.answer,
        "words": answer_words(stage.task, row.payload, row.answer, gold=True),
        "explanation": row.explanation,
        "origin": row.origin,
        "active": row.active,
        "answered": row.answered,
        "right": row.right,
    }


def _candidate_as_json(stage: RunningStage, item: Item) -> dict[str, Any]:
    return {
        "item": item.key,
        "view": stage.task.form.shown(item.payload),
        "text": item_words(stage.task, item.payload, TEXT_CHARACTERS),
        "answer": item.answer,
        "words": answer_words(stage.task, item.payload, item.answer),
        "confidence": item.confidence,
        "judgments": item.judgments,
    }


def _print_changes(result: dict[str, Any]) -> None:
    for stage, count in result["promoted"].items():
        print_line(f"Turned {count:,} {'item' if count == 1 else 'items'} of {stage} into gold.")
    if result["not_shown"]:
        print_line(
            f"This gold is not shown to workers of {', '.join(result['not_shown'])}, because gold.reuse is not true. "
            "Workers have already annotated these items, so those who exchange information can recognise them."
        )
    if result["retired"] is not None:
        print_line(f"Retired {result['retired']}.")


def _print_lists(result: dict[str, Any]) -> None:
    for stage in result["stages"]:
        if stage["has_gold"] or stage["gold"]:
            print_line(f"{stage['stage']}: {plural(len(stage['gold']), 'gold item', 'gold items')}")
        else:
            print_line(f"{stage['stage']}: no gold")
        if stage["gold"]:
            show(gold_table(stage["gold"]))
        for kind, hint in (
            ("unanimous", "--promote-unanimous turns every unanimous item into gold"),
            ("confusing", "--promote ITEM --answer ANSWER --explanation TEXT turns an item into gold"),
        ):
            if stage[kind]:
                count = plural(len(stage[kind]), f"{kind} item", f"{kind} items")
                print_line(f"{stage['stage']}: {count}{'; ' + hint if stage['has_gold'] else ''}")
                show(candidates_table(stage[kind]))
        if stage["unanimous_fields"] and stage["has_gold"]:
            counts = ", ".join(f"{name} {count:,}" for name, count in stage["unanimous_fields"].items())
            print_line(f"{stage['stage']}: items on which all agree, by field: {counts}. --field chooses fields.")
