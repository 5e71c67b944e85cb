"""Forms and addresses that cannot be read: the first problem in plain words."""

from fastapi.exceptions import RequestValidationError

from chorale.model.plain_words import plain_words


def invalid_input(error: RequestValidationError) -> str:
    """The first problem as a sentence, such as “title” must have at most 200 characters."""
    first = error.errors()[0]
    if first["loc"][0] == "path":
        # The names of its parts are those of the code.
        return "This address is not valid. Check it for mistakes."
    # Of a list, such as of selected rows, the position of an entry says nothing to the sender.
    names = [part for part in first["loc"][1:] if isinstance(part, str)]
    name = f"“{names[-1]}”" if names else "The request"
    # A regular expression helps nobody who fills in a form.
    demand = (
        "has characters that are not allowed here" if "pattern" in first["type"] else plain_words(first["msg"]).demand
    )
    return f"{name} {demand}."
