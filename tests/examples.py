"""How much a test tries: little in `make test`, much in `make test-all`."""

import os

THOROUGH = os.environ.get("CHORALE_EXAMPLES") == "thorough"


def examples(quick: int, thorough: int) -> int:
    return thorough if THOROUGH else quick
