"""What an item of a form must have: the columns its form shows, compares or lets people mark words in."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from chorale.kits.forms.task.settings import FormOptions, problem_at, refuse
from chorale.kits.forms.task.tokens import tokens

LONGEST = 50_000
MOST_TOKENS = 5_000


class FormItem(BaseModel):
    """Columns that the form does not mention are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


def item_type(options: FormOptions) -> type[BaseModel]:
    """The type of a form's items: every column that is shown must be there and have something in it."""
    optional = {part.item for part in options.shows if part.optional}
    optional |= {part.highlight for part in options.shows if part.optional and part.highlight}
    required = {each for part in options.shows if not part.optional for each in (part.item, part.highlight) if each}
    marked = {field.item for field in options.fields if field.item}
    required |= marked | {side for field in options.fields for side in field.sides or ()}
    highlights = {part.highlight: part.item for part in options.shows if part.highlight}
    columns: dict[str, Any] = {}
    for number, name in enumerate(sorted(required | optional)):
        reading = _tokens if name in marked else _running_text if name in highlights.values() else _text
        kind: Any = Annotated[Any, BeforeValidator(reading)]
        # Columns may be called anything, attributes may not.
        columns[f"column_{number}"] = (
            (kind, Field(alias=name)) if name in required else (kind | None, Field(default=None, alias=name))
        )
    validators: dict[str, Any] = {}
    if highlights:

        def highlights_occur(item: FormItem) -> FormItem:
            _check_highlights(item.model_dump(by_alias=True), highlights)
            return item

        validators["highlights_occur"] = model_validator(mode="after")(highlights_occur)
    return create_model("Item", __base__=FormItem, __validators__=validators, **columns)


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)  # several options that somebody chose
    if not isinstance(value, str):
        raise ValueError("is not text. Write text in quotes.")
    if not value.strip():
        raise ValueError("is blank. Fill it in.")
    if len(value) > LONGEST:
        raise ValueError(f"is too long. Write at most {LONGEST} characters.")
    return value


def _running_text(value: Any) -> str:
    """What something is highlighted in is a text, also where it comes as a list of tokens."""
    words = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return _text(" ".join(value) if words else value)


def _tokens(value: Any) -> str | list[str]:
    if isinstance(value, list):
        if not value or not all(isinstance(token, str) and token.strip() for token in value):
            raise ValueError("is not a list of tokens. Write texts, none of them blank.")
        text: str | list[str] = value
    else:
        text = _text(value)
    if len(tokens(text)) > MOST_TOKENS:
        raise ValueError(f"is too long. Write at most {MOST_TOKENS} tokens.")
    return text


def _check_highlights(item: dict[str, Any], highlights: dict[str, str]) -> None:
    problems = []
    for part, whole in highlights.items():
        text = item.get(whole)
        text = " ".join(text) if isinstance(text, list) else text
        if item.get(part) is not None and text is not None and item[part] not in text:
            words = f"does not occur in `{whole}`. Write it as it stands there."
            problems.append(problem_at((part,), words, item[part]))
    refuse("Item", problems)
