"""`chorale evaluate mcq`"""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from chorale.cli.arguments import AsJson, Database
from chorale.cli.scoring import AsLatex, Resamples, Seed, WithIntervals, tell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chorale.baselines.multiple_choice import ChoiceModel
    from chorale.report.drawing import Drawing
    from chorale.report.mcq_measured import NamedQuestions
    from chorale.report.mcq_sections import McqSection
    from chorale.report.mcq_study import StudyQuestions
    from chorale.scores import FloatArray

Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Questions with options, validations and predictions: .json or .jsonl, perhaps packed (.gz). Or a study's "
        "folder: its arms, with what was written, grades and costs.",
        show_default=False,
    ),
]
TiesName = Annotated[
    Literal["share", "wrong", "right"],
    typer.Option(
        "--ties",
        metavar="HOW",
        help="What a tie among people is worth if the gold answer is in it: its share of the tied answers, wrong "
        "(nothing) or right (everything).",
    ),
]
GoldVotes = Annotated[
    int,
    typer.Option("--gold-votes", metavar="N", min=1, max=20, help="Validators' votes drawn for the gold answer."),
]
AlphaName = Annotated[
    Literal["with-writer", "kept"],
    typer.Option(
        "--alpha",
        metavar="NAME",
        help="The alpha to print: with-writer (all questions, the writer votes too) or kept (kept questions, "
        "validators only).",
    ),
]
Other = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        help="Other questions: is the difference more than luck? Paired only if they are the same questions.",
        show_default=False,
    ),
]
ByArm = Annotated[
    bool,
    typer.Option(
        "--by-arm",
        help="Take the questions of every arm by themselves, by their `protocol`. --against may then name an arm.",
    ),
]
Validations = Annotated[
    Path | None,
    typer.Option(
        "--validations",
        metavar="FILE",
        help="More validations of the questions: question_id, worker_id and answer, one a row (.csv, .tsv, .jsonl).",
        show_default=False,
    ),
]
Predictions = Annotated[
    Path | None,
    typer.Option(
        "--predictions",
        metavar="FILE",
        help="More predictions for the questions: question_id, model and answer, one a row (.csv, .tsv, .jsonl).",
        show_default=False,
    ),
]
Written = Annotated[
    bool,
    typer.Option(
        "--written", help="Look at what was written too: lengths, overlap, question words, explanations, repetitions."
    ),
]
Irt = Annotated[bool, typer.Option("--irt", help="Fit how hard every question is for models, by the 3PL model.")]
Rounds = Annotated[
    list[Path] | None,
    typer.Option(
        "--round",
        metavar="FILE",
        help="Questions of an earlier round (`chorale export --format mcq-written`), for --irt; may be repeated. A "
        "study's folder has its own.",
        show_default=False,
    ),
]
Partial = Annotated[
    str | None,
    typer.Option(
        "--partial-inputs",
        metavar="MODEL",
        help="How well a model guesses without question or passage: light (built in), or the folder of a Hugging Face "
        "multiple-choice model.",
        show_default=False,
    ),
]
Folds = Annotated[int, typer.Option("--folds", metavar="N", min=2, max=50, help="Folds of the cross-validation.")]
Grades = Annotated[
    list[Path] | None,
    typer.Option(
        "--grades",
        metavar="FILE",
        help="What graders said, as `chorale export --format mcq-grades` writes it: how far they agree.",
        show_default=False,
    ),
]
Responses = Annotated[
    Path | None,
    typer.Option(
        "--responses",
        metavar="FILE",
        help="The study's responses (`chorale export --format jsonl`): with --ledger, what a question costs.",
        show_default=False,
    ),
]
Ledger = Annotated[
    Path | None,
    typer.Option(
        "--ledger", metavar="FILE", help="The study's ledger (`chorale export --format ledger`).", show_default=False
    ),
]
ExpertHourly = Annotated[
    int,
    typer.Option("--expert-hourly", metavar="CENTS", min=0, help="What an hour of an expert costs, for the costs."),
]
Pictures = Annotated[
    Path | None,
    typer.Option("--pictures", metavar="DIR", help="Write the figures there, as SVG files.", show_default=False),
]


def mcq(
    files: Files,
    ties: TiesName = "share",
    gold_votes: GoldVotes = 4,
    alpha: AlphaName = "with-writer",
    ci: WithIntervals = False,
    against: Other = None,
    by_arm: ByArm = False,
    validations: Validations = None,
    predictions: Predictions = None,
    written: Written = False,
    irt: Irt = False,
    round_files: Rounds = None,
    partial_inputs: Partial = None,
    folds: Folds = 5,
    grades: Grades = None,
    responses: Responses = None,
    ledger: Ledger = None,
    expert_hourly: ExpertHourly = 0,
    pictures: Pictures = None,
    db: Database = None,
    resamples: Resamples = 1000,
    seed: Seed = 1,
    as_json: AsJson = False,
    as_latex: AsLatex = False,
) -> None:
    """Measure human performance on multiple-choice questions, and the gap to models."""
    from dataclasses import replace

    from chorale.cli.progress import patiently
    from chorale.formats.source import digest_of, read_bytes
    from chorale.report.drawing import Drawing
    from chorale.report.mcq_measured import McqOptions
    from chorale.report.mcq_scores import score_mcq
    from chorale.report.mcq_sections import McqSection, with_sections

    own = [
        name for name, given in (("--grades", grades), ("--responses", responses), ("--round", round_files)) if given
    ]
    is_study = len(files) == 1 and files[0].is_dir()
    _check_together(own if is_study else [], pair=(responses, ledger), rounds_alone=bool(round_files) and not irt)
    quiet = Drawing(ci, resamples, seed)
    study = None
    if is_study:
        study = _of_a_folder(files[0], db, quiet, expert_hourly)
        by_arm = written = True
    more: dict[str, str | int | float | bool] = {
        name: True for name, asked in (("irt", irt), ("by-arm", by_arm)) if asked
    }
    reader = None
    if partial_inputs is not None:
        from chorale.baselines.multiple_choice import choice_model

        reader = choice_model(partial_inputs)
        more |= {"partial-inputs": reader.signature, "folds": folds}
    extra = {"validations": validations, "predictions": predictions, "responses": responses, "ledger": ledger}
    digests = {name: digest_of(read_bytes(path)) for name, path in extra.items() if path is not None}
    options = McqOptions(ties, gold_votes, alpha, more, digests)
    named, other, rounds = _read(
        files, study, against, round_files or [], validations, predictions, by_arm=by_arm, irt=irt
    )
    if rounds:
        options = replace(
            options, inputs={**digests, **{f"round/{one.name}": one.digest for one in rounds if one.digest}}
        )
    with patiently("draws") as progress:
        drawing = Drawing(ci, resamples, seed, progress)
        scored = score_mcq(named, options, drawing, other)
    # An arm that others are compared with is still one of the arms.
    everything = [*([other] if other is not None and by_arm else []), *named]
    sections: list[McqSection] = []
    if written or pictures is not None:
        from chorale.report.mcq_written import written_section

        sections.append(written_section(everything, options, quiet))
    difficulties = None
    if irt:
        section, difficulties = _difficulty(everything, rounds, seed)
        sections.append(section)
    if reader is not None and partial_inputs is not None:
        sections.append(_partial(everything, reader, partial_inputs, quiet, folds))
    sections += study.sections if study else _of_exports(grades or [], responses, ledger, expert_hourly, quiet)
    scored = with_sections(scored, sections)
    if pictures is not None:
        from chorale.report.mcq_pictures import pictures as drawn
        from chorale.report.mcq_pictures import write_pictures

        write_pictures(pictures, drawn(scored.json, difficulties))
    tell(scored, as_json=as_json, as_latex=as_latex)


def _check_together(own: list[str], *, pair: tuple[Path | None, Path | None], rounds_alone: bool) -> None:
    """Options that need each other, and those that a study's folder has no use for."""
    if (pair[0] is None) != (pair[1] is None):
        raise typer.BadParameter("--responses and --ledger belong together: name both, or neither.")
    if own:
        raise typer.BadParameter(f"{', '.join(own)}: for files only. A study's folder has its own.")
    if rounds_alone:
        raise typer.BadParameter("--round is for --irt: name both, or leave it out.")


def _difficulty(
    files: "list[NamedQuestions]", rounds: "list[NamedQuestions]", seed: int
) -> "tuple[McqSection, Mapping[str, FloatArray]]":
    from chorale.cli.progress import patiently
    from chorale.report.mcq_difficulty import difficulty_section

    with patiently("fits") as progress:
        return difficulty_section(files, rounds, seed=seed, progress=progress)


def _partial(
    files: "list[NamedQuestions]", reader: "ChoiceModel", name: str, drawing: "Drawing", folds: int
) -> "McqSection":
    from chorale.cli.progress import patiently
    from chorale.report.mcq_partial import partial_section

    with patiently("folds") as progress:
        return partial_section(files, reader, name, drawing, folds=folds, progress=progress)


def _of_a_folder(folder: Path, db: str | None, drawing: "Drawing", hourly: int) -> "StudyQuestions":
    """Straight from a study's database. Who looks at the arms has exported them, and that is an event."""
    from chorale.model import UserError
    from chorale.report.mcq_study import study_questions
    from chorale.study.export import note_export
    from chorale.study.settling import settle_everything
    from chorale.study.started import started_study

    with started_study(folder, db) as study:
        settle_everything(study)
        found = study.store.read(lambda tx: study_questions(tx, study, drawing, expert_hourly=hourly)).result()
        study.store.write(lambda tx: note_export(tx, study, "mcq", "chorale evaluate mcq")).result()
    if found is None:
        raise UserError(f"{folder} has no questions that somebody wrote and others have answered yet.")
    return found


def _of_exports(
    grades: list[Path], responses: Path | None, ledger: Path | None, hourly: int, drawing: "Drawing"
) -> "list[McqSection]":
    """What a study's own exports tell: how far graders agree, and what a question costs."""
    from chorale.evaluate.mcq.costs import costs_by_arm
    from chorale.formats.mcq_study import read_grades, read_paid, read_worked
    from chorale.report.mcq_costs import costs_section
    from chorale.report.mcq_grades import grades_section

    found = [grades_section(read_grades(grades), drawing)] if grades else []
    if responses is not None and ledger is not None:
        found.append(costs_section(costs_by_arm(read_worked(responses), read_paid(ledger)), hourly))
    return found


def _read(
    files: list[Path],
    study: "StudyQuestions | None",
    against: Path | None,
    round_files: list[Path],
    validations: Path | None,
    predictions: Path | None,
    *,
    by_arm: bool,
    irt: bool,
) -> "tuple[list[NamedQuestions], NamedQuestions | None, list[NamedQuestions]]":
    """What is measured, what it is compared with, and earlier rounds. A study's questions stand in for its folder."""
    from chorale.formats.mcq_answers import add_predictions, add_validations
    from chorale.formats.mcq_files import read_mcq
    from chorale.model import UserError
    from chorale.report.mcq_measured import NamedQuestions, arms_of

    is_arm = by_arm and against is not None and not against.exists()
    paths = [*([] if study else files), *([] if against is None or is_arm else [against]), *round_files]
    read = [read_mcq(path) for path in paths]
    questions = [*([study.questions] if study else []), *(found for found, _ in read)]
    names = [path.name.partition(".")[0] or path.name for path in paths]
    digests = [source.digest for _, source in read]
    earlier = len(round_files)
    if study:
        names, digests = ["study", *names], ["", *digests]
        if irt or predictions is not None:
            # Models may have answered all that was written.
            names += [one.name for one in study.rounds]
            questions += [one.questions for one in study.rounds]
            digests += [""] * len(study.rounds)
            earlier = len(study.rounds)
    if validations is not None:
        questions = add_validations(questions, validations)
    if predictions is not None:
        questions = add_predictions(questions, predictions)
    named = list(map(NamedQuestions, names, questions, digests))
    named, rounds = named[: len(named) - earlier], named[len(named) - earlier :]
    other = named.pop() if against is not None and not is_arm else None
    if by_arm:
        named = arms_of(named)
    if is_arm:
        other = next((one for one in named if one.name == str(against)), None)
        if other is None:
            known = ", ".join(one.name for one in named)
            raise UserError(f"--against {against}: there is neither such a file nor such an arm. The arms are {known}.")
        named = [one for one in named if one is not other]
    return named, other, rounds
