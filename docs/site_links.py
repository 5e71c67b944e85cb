"""For the documentation site: links to files that are not part of it become their names.

On their own, the pages link to the source beside them; the site has no source to link to.
"""

import re
from typing import Any

_OUTSIDE = re.compile(r"\[(?P<text>[^\]]+)\]\(\.\./(?P<file>[^)\s]+)\)")


def on_page_markdown(markdown: str, **_: Any) -> str:
    return _OUTSIDE.sub(lambda link: f"{link['text']} (`{link['file']}`)", markdown)
