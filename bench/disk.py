"""Measures how many commits a second the disk allows, as the limit to compare with."""

import sqlite3
import tempfile
import time
from pathlib import Path


def commits_per_second(where: Path, seconds: float = 2.0) -> float:
    """One-row transactions a single SQLite connection makes durable, one after the other."""
    with tempfile.TemporaryDirectory(dir=where) as folder:
        connection = sqlite3.connect(Path(folder) / "probe.db", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("CREATE TABLE row (value INTEGER)")
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            connection.execute("INSERT INTO row VALUES (1)")
            done += 1
        elapsed = time.perf_counter() - began
        connection.close()
    return done / elapsed
