"""Where computations run: embedded in this process, or on a cluster. Both run the same Ibis expressions."""

import os
import secrets
import shutil
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from chorale.kits.rules.learning.settings import Resources
from chorale.model import UserError
from chorale.model.extras import need

_SPARK_LOCAL = "spark:"
_SPARK_CLUSTER = "spark://"
_LEFT_FOR_OTHERS = 0.75
"""Of the memory given: the engine counts its buffers, not all that the process holds beside them."""
_SHOWN = 300
_PATIENCE = 5.0
"""Seconds to wait for a cluster to answer."""


class Engine:
    """Runs Ibis expressions over Parquet files. Tables are named by their path, a file or a folder of files."""

    def __init__(self, connection: Any, scratch: Path, read: Callable[[Path], Any]) -> None:
        self._connection = connection
        self._scratch = scratch
        self.table = read
        """The table in a file, or in all files of a folder, as an Ibis table."""

    def write(self, table: Any, path: Path) -> None:
        """Compute a table and put it under a path that is not there yet: whole, or not at all."""
        draft = path.with_name(f".{path.name}.part")
        _remove(draft)
        try:
            self._connection.to_parquet(table, str(draft))
        except Exception as error:
            raise _explained(error, path) from None
        os.replace(draft, path)  # noqa: PTH105 - says in one word that it is put in place

    def row(self, table: Any) -> dict[str, Any]:
        """The only row of a table. It takes the way of large tables, which both engines have."""
        path = self._scratch / f"asked-{secrets.token_hex(8)}.parquet"
        self.write(table, path)
        try:
            (row,) = pl.read_parquet(path / "*.parquet" if path.is_dir() else path).to_dicts()
            return row
        finally:
            _remove(path)


@contextmanager
def opened_engine(resources: Resources, scratch: Path) -> Iterator[Engine]:
    """The engine that was named, closed at the end. What it moves to the disk goes to `scratch`."""
    need("ibis", "duckdb", "pyarrow")
    if resources.engine == "duckdb":
        opened = _duckdb(resources, scratch)
    elif resources.engine.startswith(_SPARK_LOCAL):
        need("pyspark")
        opened = _spark(resources, scratch)
    else:
        raise UserError(f"--engine is duckdb, spark:local[N] or spark://HOST:PORT (found {resources.engine!r}).")
    with opened as engine:
        yield engine


def _explained(error: Exception, path: Path) -> Exception:
    """What to do about an error of DuckDB's, which is known by name because it may not be installed; or the error."""
    again = "run the command again: what is finished is kept."
    if type(error).__name__ == "OutOfMemoryException":
        fix = "Raise --memory or --buckets, or lower --threads, and"
        return UserError(f"{path.name} needs more memory than it may have. {fix} {again}")
    if type(error).__name__ == "IOException":
        fix = "Make room there, or name another folder with --work, and"
        return UserError(f"{path} can't be computed: {' '.join(str(error).split())[:_SHOWN]} … {fix} {again}")
    return error


@contextmanager
def _duckdb(resources: Resources, scratch: Path) -> Iterator[Engine]:
    import ibis  # noqa: PLC0415 - of the extra `rules`

    spilled = scratch / "spilled"
    spilled.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # Ibis calls DuckDB by a name that newer versions advise against; nobody who learns rules can help it.
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        connection = ibis.duckdb.connect(
            threads=resources.threads,
            memory_limit=f"{int(resources.memory * _LEFT_FOR_OTHERS) // 2**20}MiB",
            temp_directory=str(spilled),
            preserve_insertion_order=False,
        )
        # DuckDB would draw its own on standard output, where results go.
        connection.raw_sql("SET enable_progress_bar = false")

        def read(path: Path) -> Any:
            # A folder that Spark wrote has folders in it.
            return connection.read_parquet(str(path / "**/*.parquet") if path.is_dir() else str(path))

        try:
            yield Engine(connection, scratch, read)
        except Exception as error:
            # Whatever DuckDB was asked when somebody pressed Ctrl-C.
            if str(error).endswith("Query interrupted"):
                raise KeyboardInterrupt from None
            raise
        finally:
            connection.disconnect()
            shutil.rmtree(spilled, ignore_errors=True)


@contextmanager
def _spark(resources: Resources, scratch: Path) -> Iterator[Engine]:
    import ibis  # noqa: PLC0415 - of the extra `spark`
    from pyspark.sql import SparkSession  # noqa: PLC0415

    address = resources.engine
    master = address if address.startswith(_SPARK_CLUSTER) else address.removeprefix(_SPARK_LOCAL)
    if master.startswith(_SPARK_CLUSTER):
        _check_reachable(master)
    builder = SparkSession.builder.master(master).appName("chorale learn rules")
    for name, value in _spark_settings(master, resources, scratch).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise UserError(
            f"Spark at {master} can't be used: {error}. Check that it runs and that Java is there."
        ) from None
    session.sparkContext.setLogLevel("ERROR")
    connection = ibis.pyspark.connect(session)

    def read(path: Path) -> Any:
        return connection.read_parquet(str(path), recursiveFileLookup=True, pathGlobFilter="*.parquet")

    try:
        yield Engine(connection, scratch, read)
    finally:
        session.stop()


def _check_reachable(master: str) -> None:
    """Spark itself tries for a minute, in pages of Java. A cluster may have several masters, one of which answers."""
    hosts = master.removeprefix(_SPARK_CLUSTER).split(",")
    failures = []
    for each in hosts:
        host, _, port = each.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
        except ValueError:
            raise UserError(f"--engine {master} is not spark://HOST:PORT.") from None
        except OSError as error:
            failures.append(f"{each}: {error.strerror or error}")
        else:
            return
    raise UserError(f"Spark at {master} can't be reached ({', '.join(failures)}). Check its address and that it runs.")


def _spark_settings(master: str, resources: Resources, scratch: Path) -> dict[str, str]:
    settings = {"spark.ui.enabled": "false", "spark.sql.ansi.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if master.startswith("local"):
        settings |= {
            "spark.driver.memory": f"{resources.memory // 2**20}m",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.local.dir": str(scratch),
            "spark.sql.shuffle.partitions": str(max(4, 2 * resources.threads)),
        }
    return settings


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
