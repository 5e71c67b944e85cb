"""Checks of how a task handles answers."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from chorale.contract import AnswerError, ItemError
from chorale.contract.simulating import Keeping, Revision
from chorale.model import Judgment
from chorale.testing.subject import ContractError, Subject, as_json, numbers, plain, promised

_SENT: tuple[Any, ...] = ({"x": 1}, [[]], [], {}, "", "\x00", "\ud800", 10**40, float("inf"), True, None)
_TOLERANCE = 1e-9


def examples(subject: Subject) -> None:
    shape = subject.task.shape
    for example in subject.examples:
        again = shape.parse_row(as_json(example.row, f"{example.name}: the row"))
        promised(
            again == example.row,
            f"{example.name}: the row {example.row!r} becomes {again!r} when written as JSON and read again",
        )
        for item in example.items:
            stored = as_json(dict(item.payload), f"{example.name}: an item")
            item_again = _read(shape.parse_item, stored)
            promised(
                item_again == stored,
                f"{example.name}: its item {stored!r} becomes {item_again!r} when written as JSON and read again",
            )
        sent = as_json(example.answer, f"{example.name}: the answer")
        for role, parse in (("answer", shape.parse_answer), ("gold", shape.parse_gold)):
            answer = _read(parse, sent, example.item)
            promised(answer == example.answer, f"{example.name}: as {role}, the answer {sent!r} is read as {answer!r}")


def _read(parse: Callable[..., Any], *given: Any) -> Any:
    try:
        return parse(*given)
    except (AnswerError, ItemError) as error:
        raise ContractError(f"an answer that the task itself returned is refused: {error}") from None


def refusals(subject: Subject) -> None:
    shape = subject.task.shape
    item = subject.examples[0].item
    for raw, parse in product(_SENT, (shape.parse_answer, shape.parse_gold)):
        try:
            answer = parse(raw, item)
        except AnswerError:
            continue
        except Exception as error:
            raise ContractError(f"{raw!r} raises {type(error).__name__}: {error}") from error
        promised(raw is not None, "None is accepted as an answer")
        as_json(answer, f"the answer parsed from {raw!r}")
    try:
        shape.parse_row({})
    except ItemError:
        pass
    except Exception as error:
        raise ContractError(f"a row without columns raises {type(error).__name__}: {error}") from error


def grading(subject: Subject) -> None:
    part = subject.task.grading
    promised(0 < part.pass_score <= 1, f"`pass_score` is {part.pass_score}, which is not above 0 and at most 1")
    for left, right in product(subject.answers, repeat=2):
        score, reasons = part.grade(left, right)
        promised(0 <= score <= 1, f"the score of {left!r} against {right!r} is {score}, not from 0 to 1")
        promised(all(isinstance(reason, str) for reason in reasons), f"the reasons {reasons!r} are not all text")
        if left == right:
            promised(score >= 1 - _TOLERANCE, f"the score of {left!r} against itself is {score}, not 1")


def marks(subject: Subject) -> None:
    part = subject.task.grading
    if part.marks is None:
        without = part.criteria if part.kept is None else ()
        promised(not without, f"it has criteria ({', '.join(without)}) and neither `marks` nor `kept`")
        return
    for answer in subject.answers:
        given = part.marks(answer).criteria
        unknown = sorted(given.keys() - set(part.criteria))
        promised(not unknown, f"`marks` grades by {', '.join(unknown)}, not among its `criteria`")
        for name, mark in given.items():
            most = part.best_marks.get(name, 1.0)
            promised(0 <= mark <= most, f"the grade by {name} is {mark}, not from 0 to {most}")


def parts(subject: Subject) -> None:
    part = subject.task.grading
    for answer in subject.answers:
        count = part.parts(answer)
        promised(count >= 0, f"{answer!r} has {count} parts, fewer than 0")
        most = count if part.most_parts is None else part.most_parts
        promised(count <= most, f"{answer!r} has {count} parts, more than `most_parts` ({most})")


def distance(subject: Subject) -> None:
    part = subject.task.combining
    for left, right in product(subject.answers, repeat=2):
        apart = part.distance(left, right)
        promised(0 <= apart <= 1 + _TOLERANCE, f"the distance from {left!r} to {right!r} is {apart}, not from 0 to 1")
        back = part.distance(right, left)
        promised(
            abs(apart - back) <= _TOLERANCE,
            f"the distance from {left!r} to {right!r} is {apart}, and {back} in the other direction",
        )
        if left == right:
            promised(apart == 0, f"the distance from {left!r} to itself is {apart}, not 0")
        elif apart == 0:
            score = subject.task.grading.grade(left, right).score
            promised(score >= 1 - _TOLERANCE, f"{left!r} and {right!r} have the distance 0, but the score {score}")


def combining(subject: Subject) -> None:
    combine = subject.task.combining.combine
    promised(combine(()) is None, "`combine` returns a result for no answers")
    for example in subject.examples:
        combined = combine(_judgments([example.answer] * 3))
        promised(combined is not None, f"`combine` returns None for three answers {example.answer!r}")
        if combined is not None:
            same = combined.answer == example.answer
            promised(same, f"three answers {example.answer!r} combine to {combined.answer!r}")
            promised(
                combined.confidence >= 1 - _TOLERANCE, f"equal answers have the confidence {combined.confidence}, not 1"
            )
    several = _judgments(subject.answers)
    for judgments in (several, tuple(one._replace(trust=0.0) for one in several)):
        there, back = combine(judgments), combine(judgments[::-1])
        promised(there == back, f"the result depends on the order of answers: {there!r} or {back!r}")
        if there is not None:
            promised(0 <= there.confidence <= 1 + _TOLERANCE, f"a confidence is {there.confidence}, not from 0 to 1")
            as_json(there.answer, "a combined answer")


def _judgments(given: list[Any]) -> tuple[Judgment, ...]:
    return tuple(Judgment(f"w{number}", answer, 0.8, number) for number, answer in enumerate(given, 1))


def chosen(subject: Subject) -> None:
    part = subject.task.combining
    for answer in subject.answers if part.chosen is not None else ():
        options = part.chosen(answer) if part.chosen is not None else ()
        promised(isinstance(options, tuple), f"the options in {answer!r} are {options!r}, not a tuple")
        promised(all(isinstance(option, str) for option in options), f"the options in {answer!r} are not all text")


def deriving(subject: Subject) -> None:
    derive = subject.task.deriving.derive
    promised(derive is None or derive((), 0.7) == [], "`derive` makes items from an empty result")


def simulating(subject: Subject) -> None:
    task = subject.task
    guess, imitate = task.simulating.guess, task.simulating.imitate
    for example in subject.examples:
        view = as_json(subject.view(example), "the view")
        made: list[Any] = []
        if guess is not None:
            known = guess(view, example.answer, numbers())
            promised(
                known == example.answer,
                f"{example.name}: a simulated worker who knows the answer {example.answer!r} gives {known!r}",
            )
            promised(guess(view, None, numbers()) == guess(view, None, numbers()), "`guess` differs for the same seed")
            made += [guess(view, None, None), guess(view, None, numbers())]
        if task.simulating.revise is not None:
            revision = Revision(*(example.answer,) * 3)
            first, again = (task.simulating.revise(view, revision, Keeping(0.5, 0.5), numbers()) for _ in range(2))
            promised(first == again, "`revise` differs for the same seed")
            made.append(first)
        if imitate is not None:
            for accuracy in (0.0, 0.5, 1.0):
                first, again = (imitate(view, example.answer, accuracy, numbers()) for _ in range(2))
                promised(first == again, "`imitate` differs for the same seed")
                made.append(first)
        for answer in made:
            try:
                task.shape.parse_answer(as_json(answer, "a simulated answer"), example.item)
            except AnswerError as error:
                raise ContractError(f"{example.name}: the simulated answer {answer!r} is refused: {error}") from None


def explaining(subject: Subject) -> None:
    part = subject.task.explaining
    for example in subject.examples:
        item, answer = example.items[0].payload, example.answer
        as_json(part.present(item, answer), "the result of `present`")
        texts: list[Any] = [] if part.caption is None else [part.caption(item)]
        texts += [] if part.quote is None else [part.quote(item, answer)]
        texts += [] if part.reasons is None else part.reasons(item, answer, answer)
        promised(all(isinstance(text, str) for text in texts), f"{example.name}: {texts!r} are not all text")
        if part.feedback is not None:
            as_json(dict(part.feedback(item, answer, answer)), "the result of `feedback`")


def inputs(subject: Subject) -> None:
    for name, call, given in _calls(subject):
        before = plain(given)
        call(*given)
        promised(given == before, f"`{name}` changes its arguments: {before!r} becomes {given!r}")


def _calls(subject: Subject) -> Iterator[tuple[str, Callable[..., Any], list[Any]]]:
    """Every function of a task with possible arguments, as plain lists and dicts."""
    task = subject.task
    everything = plain(subject.answers)
    for example in subject.examples:
        row, item, answer, other = (plain(one) for one in (example.row, example.item, example.answer, everything[0]))
        view = plain(subject.view(example))
        functions: list[tuple[str, Callable[..., Any] | None, list[Any]]] = [
            ("expand", task.shape.expand, [row, "k1"]),
            ("misfit", task.shape.misfit, [answer, item]),
            ("canonical", task.shape.canonical, [answer, item]),
            ("view", task.form.shown, [item]),
            ("grade", task.grading.grade, [answer, other]),
            ("marks", task.grading.marks, [answer]),
            ("parts", task.grading.parts, [answer]),
            ("distance", task.combining.distance, [answer, other]),
            ("combine", task.combining.combine, [list(_judgments(everything))]),
            ("chosen", task.combining.chosen, [answer]),
            ("present", task.explaining.present, [item, answer]),
            ("caption", task.explaining.caption, [item]),
            ("quote", task.explaining.quote, [item, answer]),
            ("reasons", task.explaining.reasons, [item, answer, answer]),
            ("feedback", task.explaining.feedback, [item, answer, answer]),
        ]
        guess, imitate = task.simulating.guess, task.simulating.imitate
        if guess is not None:
            yield "guess", lambda view, known, guess=guess: guess(view, known, numbers()), [view, answer]
        if imitate is not None:
            yield "imitate", lambda view, known, imitate=imitate: imitate(view, known, 0.5, numbers()), [view, answer]
        for name, function, given in functions:
            if function is not None:
                yield name, function, given
