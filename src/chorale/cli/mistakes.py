"""What the library that parses options says of a wrong value, in this program's words."""
# ruff: noqa: PLC0415 - imported when something is wrong, so that --help is instant

import re

_NONE_OF = re.compile(r"(?:Value error, )?'(?P<given>.*)' is not one of (?P<known>'.*')\.?", re.DOTALL)
_VALIDATOR = re.compile(r"(?:Value error, |Input should |String should )", re.DOTALL)


def plainly(message: str) -> str:
    """The message without a validator's wording; with the value that was probably meant, where one must be chosen.

    >>> plainly("Value error, 'kapa' is not one of 'alpha', 'kappa'.")
    "'kapa' is not one of alpha, kappa. Did you mean kappa?"
    >>> plainly("Input should be less than or equal to 1")
    'It must be at most 1.'
    """
    from chorale.model.plain_words import plain_words
    from chorale.model.problems import did_you_mean

    if found := _NONE_OF.fullmatch(message):
        known = re.findall(r"'([^']*)'", found["known"])
        meant = did_you_mean(found["given"], known)
        return f"'{found['given']}' is not one of {', '.join(known)}.{meant}"
    if _VALIDATOR.match(message):
        return f"It {plain_words(message).demand}."
    return message
