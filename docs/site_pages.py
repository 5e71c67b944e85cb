"""For the documentation site: what its pages write for themselves and for the tests, as the site has it.

On their own, the pages link to the source beside them; the site has no source to link to. And a block that is a file
has the file's name above it.
"""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\(\.\./(?P<file>[^)\s]+)\)")
_FILE = re.compile(r"^```(?P<language>\w+) file=(?P<file>\S+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    linked = _OUTSIDE.sub(lambda link: f"{link['text']} (`{link['file']}`)", markdown)
    return _FILE.sub(lambda block: f'```{block["language"]} title="{block["file"]}"', linked)
