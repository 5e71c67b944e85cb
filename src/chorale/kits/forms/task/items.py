"""Validation of items: the columns that the form shows, compares or asks about."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator
from pydantic_core import InitErrorDetails

from chorale.kits.forms.task.fields import FormField
from chorale.kits.forms.task.settings import ANSWERS_GIVEN, MEDIA, FormOptions, Kind, Look, problem_at, refuse
from chorale.kits.forms.task.tokenizers import WORDS, cut_by
from chorale.kits.forms.task.tokens import pieces, tokens
from chorale.kits.forms.task.turn_fields import MOST_TURNS

LONGEST = 50_000
MOST_TOKENS = 5_000
MOST_IN_TUPLE = 12
ENDINGS: Mapping[Look, tuple[str, ...]] = {
    Look.PICTURE: (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"),
    Look.AUDIO: (".wav", ".mp3", ".ogg", ".m4a", ".flac", ".opus"),
    Look.VIDEO: (".mp4", ".webm", ".ogv"),
}
"""File extensions that browsers support, by media type."""
_TURNS = (Kind.TURN_CHOICE, Kind.TURN_SPANS)
_TOKENS = (Kind.SPANS, Kind.RELATIONS)
_PICTURES = (Kind.BOXES, Kind.POLYGONS)
Reading = Callable[[Any], Any]


class FormItem(BaseModel):
    """Other columns are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


def item_type(options: FormOptions, fields: Mapping[str, FormField]) -> type[BaseModel]:
    """The type of a form's items. Every displayed column is required and must not be empty."""
    optional = {column for part in options.shows if part.optional for column in part.columns}
    required = {column for part in options.shows if not part.optional for column in part.columns}
    required |= {field.item for field in options.asked if field.item}
    required |= {side for field in options.asked for side in field.sides or ()}
    highlights = {part.highlight: part.item for part in options.shows if part.highlight}
    readings = _readings(options)
    columns: dict[str, Any] = {}
    for number, name in enumerate(sorted(required | optional)):
        usual = _running_text if name in highlights.values() else _text
        kind: Any = Annotated[Any, BeforeValidator(readings.get(name, usual))]
        # Columns may have any name, but attributes may not.
        columns[f"column_{number}"] = (
            (kind, Field(alias=name)) if name in required else (kind | None, Field(default=None, alias=name))
        )
    if options.review is not None:
        columns["answers"] = (tuple[dict[str, Any], ...] | None, Field(default=None, alias=ANSWERS_GIVEN))
    prefilled = [field for field in fields.values() if field.settings.prefill]
    validators: dict[str, Any] = {}
    if highlights or prefilled:

        def fits_together(item: FormItem) -> FormItem:
            row = item.model_dump(by_alias=True)
            refuse("Item", [*_wrong_highlights(row, highlights), *_wrong_suggestions(row, prefilled)])
            return item

        validators["fits_together"] = model_validator(mode="after")(fits_together)
    return create_model("Item", __base__=FormItem, __validators__=validators, **columns)


def media_columns(options: FormOptions) -> tuple[str, ...]:
    """The columns with an image, audio or video file."""
    return tuple(media_looks(options))


def media_looks(options: FormOptions) -> dict[str, Look]:
    """The columns with an image, audio or video file, with their media type."""
    looks = {part.item: part.look for part in options.shows if part.look in MEDIA}
    for field in options.asked:
        if field.item and field.kind in (*_PICTURES, Kind.SEGMENTS):
            looks.setdefault(field.item, Look.PICTURE if field.kind in _PICTURES else Look.AUDIO)
    return looks


def _readings(options: FormOptions) -> dict[str, Reading]:
    """Readers for columns that are not plain text."""
    readings: dict[str, Reading] = {}
    for part in options.shows:
        if part.look is Look.DIALOGUE:
            readings[part.item] = _dialogue
        elif part.look in MEDIA:
            readings[part.item] = partial(_media, ENDINGS[part.look], options.hosts)
    for field in options.asked:
        if field.item is None:
            continue
        if field.kind in _TOKENS:
            readings[field.item] = partial(_tokens, field.tokenizer or WORDS)
        elif field.kind in _TURNS:
            readings[field.item] = _dialogue
        elif field.kind is Kind.BEST_WORST:
            readings[field.item] = _tuple
        else:
            played = (*ENDINGS[Look.AUDIO], *ENDINGS[Look.VIDEO])
            endings = ENDINGS[Look.PICTURE] if field.kind in _PICTURES else played
            readings[field.item] = partial(_media, endings, options.hosts)
    return readings


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ", ".join(value)  # Several chosen options.
    if not isinstance(value, str):
        raise ValueError("is not text. Write it in quotes.")
    if not value.strip():
        raise ValueError("is blank. Fill it in.")
    if len(value) > LONGEST:
        raise ValueError(f"is too long. Write at most {LONGEST} characters.")
    return value


def _running_text(value: Any) -> str:
    """The text that contains a highlight may also be a list of tokens."""
    words = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return _text("".join(pieces(value)) if words else value)


def _tokens(tokenizer: str, value: Any) -> str | list[str]:
    text: str | list[str]
    if isinstance(value, list):
        written = all(isinstance(token, str) for token in value) and tokens(value)
        if not written or not all(token.strip() for token in written):
            raise ValueError("is not a list of tokens. Write a list of non-blank texts.")
        text = value
    else:
        text = _text(value) if tokenizer == WORDS else cut_by(tokenizer, _text(value))
    if len(tokens(text)) > MOST_TOKENS:
        raise ValueError(f"is too long. Write at most {MOST_TOKENS} tokens.")
    return text


def _dialogue(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not 0 < len(value) <= MOST_TURNS:
        raise ValueError(f"is not a dialogue. Write a list of 1 to {MOST_TURNS} objects with `speaker` and `text`.")
    turns = []
    for number, turn in enumerate(value, 1):
        if not isinstance(turn, dict) or turn.keys() != {"speaker", "text"}:
            raise ValueError(
                f"has a turn ({number}) whose keys are not exactly `speaker` and `text`. Write only these two."
            )
        if not all(isinstance(part, str) and part.strip() for part in turn.values()):
            raise ValueError(f"has a turn ({number}) with a blank `speaker` or `text`. Fill them in.")
        turns.append({"speaker": turn["speaker"], "text": _text(turn["text"])})
    return turns


def _tuple(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not 2 < len(value) <= MOST_IN_TUPLE:
        words = (
            f"is not a tuple. Write a list of 3 to {MOST_IN_TUPLE} objects with `id` and `text`, or create tuples with "
        )
        raise ValueError(f"{words}`chorale prepare best-worst`.")
    if not all(isinstance(each, dict) and each.keys() == {"id", "text"} for each in value):
        raise ValueError("has an entry whose keys are not exactly `id` and `text`. Write only these two.")
    if not all(isinstance(part, str) and part.strip() for each in value for part in each.values()):
        raise ValueError("has an entry with a blank `id` or `text`. Fill them in.")
    if len({each["id"] for each in value}) < len(value):
        raise ValueError("repeats an ID. Give every text of a tuple a unique ID.")
    return [{"id": each["id"], "text": _text(each["text"])} for each in value]


def _media(endings: tuple[str, ...], hosts: tuple[str, ...], value: Any) -> str:
    """A file in the study folder, or a URL on a listed server."""
    place = _text(value)
    if any(ord(character) < 32 for character in place):
        raise ValueError("has a control character. Write a file name or an https address.")
    if "://" in place:
        parts = urlsplit(place)
        if f"{parts.scheme}://{parts.netloc}" not in hosts:
            raise ValueError("is on a server that is not in the form's `hosts`. Add it there, or use a file.")
        return place
    path = PurePosixPath(place)
    if path.is_absolute() or ".." in path.parts or "\\" in place or any(part.startswith(".") for part in path.parts):
        raise ValueError("is not a file in the study folder. Write a relative path such as `media/a.png`.")
    if path.suffix.lower() not in endings:
        raise ValueError(f"has an unsupported file type. Use one of {', '.join(endings)}.")
    return path.as_posix()


def _wrong_highlights(item: dict[str, Any], highlights: dict[str, str]) -> Iterator[InitErrorDetails]:
    for part, whole in highlights.items():
        text = item.get(whole)
        text = "".join(pieces(text)) if isinstance(text, list) else text
        if item.get(part) is not None and text is not None and item[part] not in text:
            words = f"does not occur in `{whole}`. Copy it exactly from there."
            yield problem_at((part,), words, item[part])


def _wrong_suggestions(item: dict[str, Any], fields: list[FormField]) -> Iterator[InitErrorDetails]:
    """Rejects prefilled answers that cannot be submitted."""
    for field in fields:
        column = field.settings.prefill or ""
        if item.get(column) is None:
            continue
        try:
            wrong = field.misfit(field.parse(item[column]), item)
        except ValueError as error:
            wrong = str(error)
        if wrong is not None:
            words = f"{wrong}, so it cannot prefill the field `{field.settings.name}`. Correct or remove it."
            yield problem_at((column,), words, item[column])
