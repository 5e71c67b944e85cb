"""Forms described in the study file, without code: choices, scales, texts, spans, comparisons."""

from dataclasses import replace
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema, create_model

from chorale.contract.task import (
    Combining,
    Deriving,
    Example,
    Explaining,
    Form,
    Grading,
    Options,
    Shape,
    Simulating,
    Task,
    one_part,
)
from chorale.kits.forms.task.answers import FormFields
from chorale.kits.forms.task.explaining import FormWording
from chorale.kits.forms.task.items import item_type, media_columns
from chorale.kits.forms.task.more_tables import more_tables
from chorale.kits.forms.task.page import BROWSER, form_page
from chorale.kits.forms.task.prompting import prompting
from chorale.kits.forms.task.reviewing import gather
from chorale.kits.forms.task.settings import FormOptions, Look
from chorale.kits.forms.task.studio_page import studio_page
from chorale.kits.forms.task.tables import answers_table, results_table
from chorale.model.wording import worded

_EXAMPLE_OPTIONS: dict[str, Any] = {
    "shows": [{"item": "message", "label": "A message to a neighbour"}],
    "fields": [
        {"name": "tone", "kind": "choice", "ask": "How does it sound?", "options": ["friendly", "neutral", "rude"]},
        {
            "name": "about",
            "kind": "choices",
            "ask": "What is it about?",
            "options": ["noise", "garden", "parcels"],
            "none": "None of these",
        },
        {"name": "urgency", "kind": "likert", "ask": "How urgent is it?", "labels": ["Not at all", "Very"]},
        {"name": "spot", "kind": "spans", "ask": "Which words tell you?", "item": "message"},
        {"name": "reply", "kind": "text", "ask": "What would you reply?", "required": False},
        {
            "name": "better",
            "kind": "pair",
            "ask": "Which reply is kinder?",
            "sides": ["first_reply", "second_reply"],
            "same": "About the same",
            "shuffle": True,
        },
        {"name": "why", "kind": "long_text", "ask": "What makes it rude?", "shown_if": {"field": "tone", "is": "rude"}},
    ],
}
_EXAMPLES = (
    Example(
        row={
            "message": "Could you water my tomatoes until Sunday? Thank you!",
            "first_reply": "With pleasure.",
            "second_reply": "If I must.",
        },
        answer={
            "tone": "friendly",
            "about": ["garden"],
            "urgency": 3,
            "spot": [{"start": 0, "end": 2}, {"start": 7, "end": 9}],
            "reply": "Of course",
            "better": "first_reply",
        },
    ),
    Example(
        row={
            "message": "Your dog again. I have had enough.",
            "first_reply": "Sorry, I will keep it inside.",
            "second_reply": "I am sorry. It stays in from now on.",
        },
        answer={
            "tone": "rude",
            "about": [],
            "urgency": 5,
            "spot": [{"start": 2, "end": 3}],
            "better": "same",
            "why": "It gives no greeting and only complains.",
        },
    ),
)


def _answers(name: str, parse: Any, schema: dict[str, Any]) -> type[BaseModel]:
    kind = Annotated[Any, BeforeValidator(parse), WithJsonSchema(schema)]
    return create_model(name, __config__=ConfigDict(extra="forbid", frozen=True), answer=(kind, ...))


def _configured(options: FormOptions) -> Task:
    form = FormFields(options)
    wording = FormWording(form)
    items = item_type(options, form.fields)
    return Task(
        name="form",
        version=1,
        summary=worded("A few questions about each item"),
        shape=Shape(
            item_type=items,
            answer_type=_answers("FormAnswer", form.parse, form.schema()),
            gold_type=_answers("FormGold", form.parse_gold, {"type": "object"}),
            misfit=form.misfit,
            gold_at=form.gold_at,
            fields=tuple(field.answer_field() for field in form.fields.values()),
        ),
        form=Form(
            page=form_page(options, form.fields.values()),
            module=BROWSER / "form.js",
            suggests=True,
            style=BROWSER / "form.css",
            shared=(BROWSER / "kinds.css",),
            media=media_columns(options),
            hosts=options.hosts,
            markdown=tuple(part.item for part in options.shows if part.look is Look.MARKDOWN),
            view=form.view,
            arrange=form.arrange if form.shuffled else None,
            studio=None if options.review is not None else studio_page(options),
        ),
        examples=(),
        options=Options(model=FormOptions, configure=_configured, example=_EXAMPLE_OPTIONS),
        grading=Grading(
            grade=form.grade,
            parts=form.parts if form.has_parts else one_part,
            most_parts=form.most_parts,
            marks=form.marks if form.best_marks else None,
            criteria=tuple(form.best_marks),
            best_marks=form.best_marks,
            asks={name: form.fields[name].settings.ask for name in form.best_marks},
        ),
        combining=Combining(distance=form.distance, combine=form.combine, combine_fields=form.combine_fields),
        deriving=Deriving(from_results=True) if options.review is None else Deriving(gather=gather),
        simulating=Simulating(guess=form.guess),
        explaining=Explaining(
            present=form.present,
            caption=wording.caption,
            quote=wording.quote,
            reasons=wording.reasons,
            feedback=wording.feedback,
        ),
        prompting=prompting(form),
        exports=(results_table(form), answers_table(form), *more_tables(form)),
    )


# Without its own options, the task uses the form of its examples.
FORM = replace(_configured(FormOptions.model_validate(_EXAMPLE_OPTIONS)), examples=_EXAMPLES)

__all__ = ["FORM"]
