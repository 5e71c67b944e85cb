"""Lists the versions of the documentation in a folder, for the site's menu of versions, and redirects to the newest.

`make docs` builds each version into its own folder: python docs/site_versions.py site
"""

import json
import sys
from pathlib import Path

REDIRECT = """<!doctype html>
<title>Chorale</title>
<meta http-equiv="refresh" content="0; url={newest}/index.html">
<a href="{newest}/index.html">Documentation of Chorale {newest}</a>
"""


def versions_in(site: Path) -> list[str]:
    """The versions that were built, newest first."""
    built = [page.parent.name for page in site.glob("*/index.html") if page.parent.name[0].isdigit()]
    return sorted(built, key=lambda name: [int(part) for part in name.split(".") if part.isdigit()], reverse=True)


def main(site: Path) -> None:
    versions = versions_in(site)
    menu = [{"version": name, "title": name, "aliases": []} for name in versions]
    (site / "versions.json").write_text(json.dumps(menu) + "\n", "utf-8")
    (site / "index.html").write_text(REDIRECT.format(newest=versions[0]), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
