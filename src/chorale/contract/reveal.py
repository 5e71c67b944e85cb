"""Forms in two steps: a first answer is stored, and only then is the rest of the item shown."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from chorale.model import Answer, Payload
from chorale.model.frozen import frozen


@dataclass(frozen=True)
class Reveal:
    """The second step of a form, shown after the first part of the answer is stored."""

    fields: tuple[str, ...]
    """The fields of the first step. Once stored, they cannot change."""
    view: Callable[[Payload], dict[str, Any]]
    """Takes an item. Returns the additional view for the second step. The server sends it only after the first part of
    the answer is stored."""

    def first_of(self, answer: Answer) -> Answer:
        """The first part of a complete answer."""
        given: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
        return frozen({name: given.get(name) for name in self.fields})

    def first_type(self, answer_type: type[BaseModel]) -> type[BaseModel]:
        """The Pydantic model of the first part, derived from the model of complete answers; TypeError if that is not an
        object.
        """
        return _first_type(self.fields, answer_type)


@lru_cache(maxsize=64)
def _first_type(fields: tuple[str, ...], answer_type: type[BaseModel]) -> type[BaseModel]:
    whole = answer_type.model_fields["answer"].annotation
    if not (isinstance(whole, type) and issubclass(whole, BaseModel)):
        raise TypeError("the answers of a form in two steps must be objects, with a Pydantic model of their own")
    if missing := [name for name in fields if name not in whole.model_fields]:
        raise TypeError(f"the first part names fields that answers do not have: {', '.join(missing)}")
    columns: Mapping[str, Any] = {
        name: (whole.model_fields[name].annotation, whole.model_fields[name]) for name in fields
    }
    first = create_model("First", __config__=whole.model_config, **columns)
    return create_model("FirstAnswer", __config__=ConfigDict(extra="forbid", frozen=True), answer=(first, ...))
