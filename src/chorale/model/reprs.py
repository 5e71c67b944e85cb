"""Short reprs of large objects."""


def brief_repr(kind: str, *parts: str) -> str:
    """The repr of an object in a notebook or a debugger.

    >>> brief_repr("Judgments", "2 tasks", "1 worker")
    '<Judgments: 2 tasks, 1 worker>'
    """
    return f"<{kind}: {', '.join(parts)}>"
