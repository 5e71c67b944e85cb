"""Layouts of Mechanical Turk: pages of HTML with variables, and the batch files that fill them."""

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{\s*([^{}\n]{1,200}?)\s*\}")


def variables_in(layout: str) -> list[str]:
    """The variables of a layout, in the order they first come in.

    >>> variables_in("<p>${word} in ${text}, ${ word }</p>")
    ['word', 'text']
    """
    return list(dict.fromkeys(_VARIABLE.findall(layout)))


def fill_in(layout: str, values: Mapping[str, str]) -> str:
    """A layout with its variables filled in. Values are put in as they are: they may be HTML, and run in a sandbox.

    >>> fill_in("<p>${word}</p>", {"word": "<b>hull</b>"})
    '<p><b>hull</b></p>'
    """
    return _VARIABLE.sub(lambda found: values.get(found[1], ""), layout)
