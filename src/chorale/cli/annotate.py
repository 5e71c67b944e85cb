"""`chorale annotate`"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import uvloop

from chorale.cli.arguments import AsJson, Database, StudyFolder
from chorale.cli.bars import progress_bar, standard_error
from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.terminal import show
from chorale.engine.models.running import ModelRun, Preview, Progress, chosen_models, previews
from chorale.engine.models.running import annotate as run_models
from chorale.engine.models.stages import stages_of
from chorale.engine.opening import annotating_alone
from chorale.engine.running import Study
from chorale.engine.started import study_for_models
from chorale.metrics.score_table import ScoreTable
from chorale.model import ModelSettings
from chorale.model.money import exact_money_text
from chorale.present.scoring import score_table
from chorale.store import Tx, model_tasks, workers

ModelName = Annotated[str | None, Option(metavar="NAME", help="Run only this model.")]
StageOption = Annotated[
    str | None, Option(metavar="STAGE", help="Annotate only this stage, after the training rounds that lead to it.")
]
Limit = Annotated[
    int | None, Option(metavar="N", min=1, help="Annotate at most N items with each model, in all stages together.")
]
DryRun = Annotated[bool, Option(help="Send nothing: print the first prompts and the estimated cost.")]
RetrySkipped = Annotated[
    bool, Option(help="Ask again about items that the model refused, or to which it gave no usable answer.")
]
_SHOWN = 2


def annotate(
    directory: StudyFolder,
    model: ModelName = None,
    stage: StageOption = None,
    limit: Limit = None,
    retry_skipped: RetrySkipped = False,
    dry_run: DryRun = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Annotate a study's items with its models. Run the command again to continue where it stopped."""
    with study_for_models(directory, db) as study:
        models = chosen_models(study, model)
        if dry_run:
            prompts = study.store.look(lambda tx: previews(tx, study, models, stage, limit, _SHOWN))
            _print_previews(study, prompts, as_json=as_json)
            return
        with annotating_alone(study), _progress(study, models, stage, limit) as progress:
            work = run_models(study, directory, models, stage, limit, progress, retry_skipped=retry_skipped)
            runs = uvloop.run(work)
        _print_runs(study, runs, as_json=as_json)


@contextmanager
def _progress(
    study: Study, models: Sequence[ModelSettings], stage: str | None, limit: int | None
) -> Iterator[Progress]:
    """Show a bar for every model and stage, with the cost so far; nothing without a terminal."""
    console = standard_error()
    if not console.is_terminal:
        yield lambda _: None
        return
    currency = study.settings.pay.currency
    with progress_bar(console) as bars:
        rows = {}
        for model in models:
            for of in stages_of(study, model, stage):
                total = (
                    _left(study, of.stage.id, model, limit, counting=of.counts) if of.stage.round_size is None else None
                )
                rows[model.name, of.stage.name] = bars.add_task(f"{model.name} in {of.stage.name}", total=total)

        def update(run: ModelRun) -> None:
            cost = f" {exact_money_text(run.counts.cost, currency)}" if run.counts.cost else ""
            text = f"{run.model} in {run.stage}{cost}"
            bars.update(rows[run.model, run.stage], completed=run.counts.items, description=text)

        yield update


def _left(study: Study, stage_id: int, model: ModelSettings, limit: int | None, *, counting: bool) -> int:
    def count(tx: Tx) -> int:
        worker = workers.find_by_identity(tx, "model", model.name)
        return model_tasks.left(tx, stage_id, 0 if worker is None else worker.id, counting=counting)

    left = study.store.look(count)
    return left if limit is None else min(left, limit)


def _print_previews(study: Study, previews: Sequence[Preview], *, as_json: bool) -> None:
    if as_json:
        runs = [{**one._asdict(), "prompts": [prompt._asdict() for prompt in one.prompts]} for one in previews]
        print_json({"currency": study.settings.pay.currency, "runs": runs})
        return
    for preview in previews:
        for number, prompt in enumerate(preview.prompts, 1):
            print_line(f"--- {preview.model} in {preview.stage}, prompt {number} of {preview.items:,}: system")
            print_line(prompt.system)
            print_line(f"--- {preview.model} in {preview.stage}, prompt {number} of {preview.items:,}: user")
            print_line(prompt.user)
    currency = study.settings.pay.currency
    columns = (
        "model",
        "stage",
        "items#",
        "gold (at most)#",
        "prompt tokens (about)#",
        "cost of prompts (about)#",
        "maximum cost with answers#",
    )
    rows = [
        (
            one.model,
            one.stage,
            one.items,
            one.gold,
            one.prompt_tokens,
            exact_money_text(one.about, currency),
            exact_money_text(one.at_most, currency),
        )
        for one in previews
    ]
    show(score_table(ScoreTable("Planned requests", columns, rows)))


def _print_runs(study: Study, runs: Sequence[ModelRun], *, as_json: bool) -> None:
    currency = study.settings.pay.currency
    if as_json:
        print_json({"currency": currency, "runs": [_as_json(run) for run in runs]})
        return
    columns = (
        "model",
        "stage",
        "answered#",
        "skipped#",
        "failed#",
        "calls#",
        "input tokens#",
        "output tokens#",
        "cost#",
    )
    rows = [
        (
            run.model,
            run.stage,
            run.counts.answered,
            run.counts.skipped,
            run.counts.failed,
            run.counts.outcomes.total(),
            run.counts.input_tokens,
            run.counts.output_tokens,
            exact_money_text(run.counts.cost, currency),
        )
        for run in runs
    ]
    show(score_table(ScoreTable("This run", columns, rows)))
    troubles = [
        (run.model, run.stage, what, count, run.counts.reasons.get(what, ""))
        for run in runs
        for what, count in [
            *_troubles(run),
            *((f"{name} (of all attempts)", n) for name, n in run.counts.faults.items()),
        ]
    ]
    if troubles:
        named = ("model", "stage", "reason", "times#", "for example")
        show(score_table(ScoreTable("Calls without an answer", named, troubles)))
    print_notes(f"{run.model} in {run.stage}: {run.counts.ended_by}" for run in runs if run.counts.ended_by)


def _troubles(run: ModelRun) -> list[tuple[str, int]]:
    return [(name, count) for name, count in sorted(run.counts.outcomes.items()) if name != "answer"]


def _as_json(run: ModelRun) -> dict[str, Any]:
    counts = run.counts
    return {
        "model": run.model,
        "stage": run.stage,
        "answered": counts.answered,
        "skipped": counts.skipped,
        "failed": counts.failed,
        "outcomes": dict(counts.outcomes),
        "faults": dict(counts.faults),
        "input_tokens": counts.input_tokens,
        "output_tokens": counts.output_tokens,
        "cost_billionths": counts.cost,
        "ended_by": counts.ended_by,
    }
