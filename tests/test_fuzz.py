"""The readers under atheris, for a few seconds each. `tests/fuzz/readers.py` runs longer by hand."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent / "fuzz" / "readers.py"
READERS = re.findall(r'^    "([\w-]+)": _', SCRIPT.read_text("utf-8"), re.MULTILINE)
SECONDS = 3


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="needs atheris")
@pytest.mark.parametrize("reader", READERS)
def test_no_bytes_make_a_reader_stumble(reader: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), reader, f"-max_total_time={SECONDS}", "-verbosity=0", "-seed=1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS + 120,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
