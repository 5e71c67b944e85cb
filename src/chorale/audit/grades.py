"""Check that grades given by people follow from the graders' answers."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from chorale.engine.grading import PeoplesGrade, grade_by_kept, grade_of
from chorale.engine.running import RunningStage, Study
from chorale.model import AssignmentKind, Grade, ItemState, Judgment, Response, StudySettings, responses_behind
from chorale.protocol import parts_bonus
from chorale.store import Tx, corrections, events, items
from chorale.store.corrections import is_by_gold
from chorale.store.grades import all_grades

ALL = 1_000_000
TOLERANCE = 1e-9
GOLD = "gold"


def grade_differences(
    tx: Tx,
    study: Study,
    responses: Sequence[Response],
    judged: Mapping[str, Mapping[str, Sequence[Judgment]]],
    gone: Collection[int],
) -> list[str]:
    """Grades that do not follow from the graders' answers, at that time or now.

    `judged` are the judgments that count, by stage and item. `gone` are responses whose answers were erased: grades
    of these answers, and grades given by them, can't be recomputed.
    """
    by_response: dict[int, list[Grade]] = defaultdict(list)
    for grade in all_grades(tx):
        by_response[grade.response_id].append(grade)
    given = {response.id: response for response in responses}
    made_from: dict[int, tuple[int, ...]] = {}
    differences: list[str] = []
    for stage in study.stages.values():
        for item in items.all_items(tx, stage.name) if stage.settings.graded_stages else ():
            made_from[item.id] = responses_behind(item.key)
            if item.state == ItemState.COMPLETE:
                answers = [judgment.answer for judgment in judged[stage.name].get(item.key, ())]
                for number in made_from[item.id]:
                    again = _again(stage, given[number], answers)
                    differences += _present_differences(study, number, again, by_response[number])
    corrected = {(one.item_id, one.at) for one in corrections.corrections(tx)}
    recorded = {
        (event.evidence["response"], event.evidence["source"]): event.evidence
        for event in events.recent(tx, ALL, kinds=("graded",))
    }
    for grades in by_response.values():
        for number, grade in enumerate(grades, 1):
            if is_by_gold(grade.source):
                differences += _gold_differences(grade, given, corrected)
                continue
            evidence = recorded.pop((grade.response_id, grade.source), {})
            by = evidence.get("by", [])
            answers = [
                given[response_id]
                for response_id in by
                if response_id in given and grade.response_id in made_from.get(given[response_id].item_id, ())
            ]
            if grade.response_id in gone or any(response.id in gone for response in answers):
                continue
            graded = given[grade.response_id]
            differences += _grader_differences(study, grade, number, graded, answers, evidence)
    return differences + [
        f"response {response}: graded by {source} in the activity log, but it has no such grade"
        for response, source in recorded
    ]


def kept_bonuses(tx: Tx, settings_at: Callable[[int], StudySettings]) -> Iterator[tuple[str, str, int, int]]:
    """The pay due for parts of answers that later stages kept: stage, worker, time and amount.

    It follows from the first grade by such a stage, and the study file of that time.
    """
    grades = {(grade.response_id, grade.source): grade for grade in all_grades(tx)}
    paid: set[tuple[int, str]] = set()
    for event in sorted(events.recent(tx, ALL, kinds=("graded",)), key=lambda event: event.id):
        number, source = event.evidence["response"], event.evidence["source"]
        by = (number, source.rpartition("#")[0])
        grade = grades.get((number, source))
        if "kept" not in event.evidence or by in paid or grade is None:
            continue
        paid.add(by)
        stage = next((one for one in settings_at(event.at).stage if one.name == grade.stage), None)
        if stage is not None and (amount := parts_bonus(event.evidence["kept"], stage.pay.kept)):
            yield grade.stage, grade.worker, event.at, amount


def _again(stage: RunningStage, graded: Response, answers: Sequence[Any]) -> PeoplesGrade | None:
    """Recompute the grade of an answer from the answers in a grading stage."""
    if stage.settings.grades_sources:
        return grade_by_kept(stage.task, graded.answer, answers)
    return grade_of(stage.task, answers)


def _present_differences(
    study: Study, response_id: int, grade: PeoplesGrade | None, grades: Sequence[Grade]
) -> Iterator[str]:
    """Check that the current grade of each answer follows from its graders' current answers."""
    by_people = [one for one in grades if not is_by_gold(one.source)]
    if grade is None:
        return
    graders = [
        stage for stage in study.stages.values() if by_people and by_people[-1].stage in stage.settings.graded_stages
    ]
    # If several stages grade the same answers, the latest grade counts.
    could_be = by_people[-1:] if len(graders) == 1 else by_people
    if not any(abs(one.score - grade.score) <= TOLERANCE for one in could_be):
        stored = by_people[-1].score if by_people else None
        yield f"response {response_id}: grade {stored} stored, {grade.score} recomputed from its graders' answers"


def _gold_differences(
    grade: Grade, given: Mapping[int, Response], corrected: Collection[tuple[int, int]]
) -> Iterator[str]:
    response = given[grade.response_id]
    if grade.source != GOLD:
        if (response.item_id, grade.graded_at) not in corrected:
            yield f"response {grade.response_id}: graded against gold again, although the gold was not corrected"
        return
    if grade.kind == AssignmentKind.PRODUCTION:
        yield f"response {grade.response_id}: graded against gold, but its item was not gold"
    if grade.graded_at != response.submitted_at:
        yield f"response {grade.response_id}: the time of its gold grade differs from that of the answer"


def _grader_differences(
    study: Study,
    grade: Grade,
    number: int,
    graded: Response,
    answers: Sequence[Response],
    evidence: Mapping[str, Any],
) -> Iterator[str]:
    """Check that each grade follows from the graders' answers that its event names."""
    name = f"response {grade.response_id}: grade {grade.source}"
    stage_name, _, place = grade.source.rpartition("#")
    stage = study.stages.get(stage_name)
    if stage is None or place != str(number) or grade.stage not in stage.settings.sources:
        yield f"{name} comes from a source that may not grade"
        return
    named = len(evidence.get("by", ()))
    if not named:
        yield f"{name} has no event that names its graders"
    elif len(answers) != named or any(response.stage != stage_name for response in answers):
        yield f"{name} is based on answers that do not grade this response"
    again = _again(stage, graded, [response.answer for response in answers])
    if again is None or abs(again.score - grade.score) > TOLERANCE:
        yield f"{name} is {grade.score}, but the graders' answers give {None if again is None else again.score}"
    elif again.criteria != grade.criteria or again.reasons != list(grade.reasons):
        yield f"{name} has criteria or reasons that differ from its graders'"
    elif again.kept != evidence.get("kept", 0):
        yield f"{name}: number of kept parts {evidence.get('kept')} in the log, {again.kept} in the graders' answers"
