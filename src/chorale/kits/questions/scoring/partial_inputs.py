"""Partial-input baselines for the command line: can a model find the correct answer without question or passage?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

from chorale.kits.questions.baselines import (
    GIVEN,
    ChoiceExample,
    ChoiceModel,
    Given,
    Gold,
    ModelTrial,
    accuracy_metric,
    cross_validate,
    examples_of,
    lacking,
    transfer,
)
from chorale.kits.questions.baselines.choice_models import EarlierTraining
from chorale.kits.questions.scoring.measured import McqOptions, McqSection, NamedQuestions
from chorale.metrics import Clusters, UnpairedComparison
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import Cell, ScoreTable, adjusted_p_values, shown_ends, test_columns
from chorale.model import UserError
from chorale.model.plural import plural

_NAMES: Mapping[Given, str] = {
    "pqa": "passage, question, answers",
    "pa": "passage and answers",
    "qa": "question and answers",
    "a": "answers alone",
}


def partial_section(
    files: Sequence[NamedQuestions],
    model: ChoiceModel,
    named: str,
    options: McqOptions,
    resampling: Resampling,
    *,
    folds: int,
    progress: Callable[[int, int], None] | None = None,
    inputs: Sequence[Given] = GIVEN,
    gold: Gold = "majority",
    asked_by: str = "--partial-inputs",
    keep: Callable[[Given, ModelTrial], None] | None = None,
) -> McqSection:
    """Cross-validated accuracy with each input, and transfer of models trained on one file to the others.

    Transfer uses the first input. `keep` is called with every trial; `asked_by` is the option named in messages.
    """
    if model.earlier:
        _check_unseen(files, model.earlier, named, inputs)
        inputs = (model.earlier.given,)
    sets = {file.name: examples_of(file.questions, gold) for file in files}
    for name, examples in sets.items():
        _check(name, examples, folds, inputs, asked_by)
    trials: dict[str, dict[Given, ModelTrial]] = {name: {} for name in sets}
    steps = len(sets) * len(inputs) + (1 if len(sets) > 1 else 0)
    for done, (name, given) in enumerate(product(sets, inputs), 1):
        trials[name][given] = cross_validate(model, sets[name], given, folds=folds, seed=resampling.seed)
        if keep:
            keep(given, trials[name][given])
        if progress:
            progress(done, steps)
    moved = {}
    if len(sets) > 1 and not model.earlier:
        moved = transfer(model, sets, inputs[0], folds=folds, seed=resampling.seed)
    if progress:
        progress(steps, steps)
    clusters = {file.name: options.clusters(file.questions) for file in files}
    scores = {
        name: {given: _json(one, replace(resampling, clusters=clusters[name])) for given, one in each.items()}
        for name, each in trials.items()
    }
    json: dict[str, Any] = {"model": named, "folds": folds, "files": scores}
    tables = [_table(scores, named, ci=resampling.ci)]
    if moved:
        json["transfer"] = {
            target: {source: one.accuracy for (to, source), one in moved.items() if to == target} for target in sets
        }
        tables.append(_transfer_table(trials, moved, list(sets), inputs[0]))
    if resampling.ci and len(sets) > 1:
        compared = _compared(trials, clusters, resampling)
        adjusted = adjusted_p_values([one for _, _, one in compared])
        json["compared"] = [
            {"files": list(pair), "shown": given, **one.as_dict(), **more}
            for (pair, given, one), more in zip(compared, adjusted, strict=True)
        ]
        tables.append(_comparison_table(compared))
    how = f"{folds}-fold cross-validation; no passage is in both training and test data"
    notes = [f"{named}: {'previously trained and used as it is' if model.earlier else how}."]
    return McqSection("partial_inputs", json, tables, notes)


def _check_unseen(
    files: Sequence[NamedQuestions], earlier: EarlierTraining, named: str, inputs: Sequence[Given]
) -> None:
    if seen := [file.name for file in files if file.digest in earlier.digests]:
        raise UserError(f"{named} was trained on {', '.join(seen)}. Use questions that it has not seen.")
    if earlier.given not in inputs:
        raise UserError(
            f"{named} was trained with --input {earlier.given}. Use the same input, or train another model."
        )


def _check(name: str, examples: Sequence[ChoiceExample], folds: int, inputs: Sequence[Given], asked_by: str) -> None:
    without = sorted({one for given in inputs for one in lacking(examples, given)})
    if without:
        raise UserError(
            f"{asked_by} requires passages and questions, but {plural(len(without), 'record', 'records')} of {name} "
            f"{'lacks' if len(without) == 1 else 'lack'} one of them, such as {without[0]}. Fill in question and "
            "document."
        )
    passages = {one.passage or one.id for one in examples}
    if len(passages) < folds:
        fewer = f"Use --folds {len(passages)}, or" if len(passages) > 1 else "Use"
        raise UserError(
            f"{asked_by} makes {folds} folds of passages, but {name} has only {len(passages)}. {fewer} a file with "
            "more passages."
        )


def _json(trial: ModelTrial, resampling: Resampling) -> dict[str, Any]:
    json: dict[str, Any] = {"accuracy": trial.accuracy, "deviation": trial.deviation}
    json |= {"questions": len(trial.ids), "guessing": trial.guessing}
    if resampling.ci:
        json["ci"] = resampling.intervals(trial.statistics(), accuracy_metric())["accuracy"].as_list()
    return json


def _table(files: Mapping[str, Mapping[Given, Mapping[str, Any]]], named: str, *, ci: bool) -> ScoreTable:
    rows: list[list[Cell]] = []
    for name, by_input in files.items():
        for number, (given, score) in enumerate(by_input.items()):
            row = ["" if number else name, _NAMES[given], score["accuracy"], score["deviation"], score["guessing"]]
            rows.append([*row, shown_ends(score["ci"])] if ci else row)
    columns = ("file", "input", "accuracy#", "deviation over folds#", "guessing#")
    return ScoreTable(f"Partial inputs: {named}", (*columns, "95% interval#") if ci else columns, rows)


def _compared(
    trials: Mapping[str, Mapping[Given, ModelTrial]], clusters: Mapping[str, Clusters | None], resampling: Resampling
) -> list[tuple[tuple[str, str], Given, UnpairedComparison]]:
    """Unpaired comparisons of every two files, for each input."""
    compared = []
    for pair in combinations(trials, 2):
        for given in trials[pair[0]]:
            ours, theirs = ((trials[name][given].statistics(), accuracy_metric()) for name in pair)
            both = clusters[pair[0]], clusters[pair[1]]
            compared.append((pair, given, resampling.compare_apart(ours, theirs, both)["accuracy"]))
    return compared


def _comparison_table(compared: Sequence[tuple[tuple[str, str], Given, UnpairedComparison]]) -> ScoreTable:
    tests, cells = test_columns([comparison for _, _, comparison in compared])
    rows: list[list[Cell]] = [
        [*pair, _NAMES[given], comparison.difference, *each]
        for (pair, given, comparison), each in zip(compared, cells, strict=True)
    ]
    return ScoreTable("Partial inputs compared", ("file", "other", "input", "difference#", *tests), rows)


def _transfer_table(
    trials: Mapping[str, Mapping[Given, ModelTrial]],
    moved: Mapping[tuple[str, str], ModelTrial],
    names: Sequence[str],
    given: Given,
) -> ScoreTable:
    rows: list[list[Cell]] = []
    for target in names:
        elsewhere = [None if source == target else moved[target, source].accuracy for source in names]
        rows.append([target, *elsewhere, trials[target][given].accuracy])
    columns = ("asked", *(f"trained on {name}#" for name in names), "itself, cross-validated#")
    return ScoreTable(f"Transfer from file to file, {_NAMES[given]}", columns, rows)
