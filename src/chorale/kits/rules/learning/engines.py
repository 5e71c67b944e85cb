"""Engines that run computations in this process or on a cluster. Both run the same Ibis expressions."""

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
"""Fraction of the memory limit for the engine, which counts only its own buffers."""
_SHOWN = 300
_PATIENCE = 5.0
"""Timeout for a connection to a cluster, in seconds."""


class Engine:
    """Runs Ibis expressions over Parquet files. Tables are named by their path, a file or a folder of files."""

    def __init__(self, connection: Any, scratch: Path, read: Callable[[Path], Any]) -> None:
        self._connection = connection
        self._scratch = scratch
        self.table = read
        """Opens a file, or all files of a folder, as an Ibis table."""

    def write(self, table: Any, path: Path) -> None:
        """Computes a table and writes it atomically to a new path."""
        draft = path.with_name(f".{path.name}.part")
        _remove(draft)
        try:
            self._connection.to_parquet(table, str(draft))
        except Exception as error:
            raise _explained(error, path) from None
        os.replace(draft, path)  # noqa: PTH105 - its name says that a file is replaced

    def row(self, table: Any) -> dict[str, Any]:
        """The only row of a table, computed like a large table because both engines support that."""
        path = self._scratch / f"asked-{secrets.token_hex(8)}.parquet"
        self.write(table, path)
        try:
            (row,) = pl.read_parquet(path / "*.parquet" if path.is_dir() else path).to_dicts()
            return row
        finally:
            _remove(path)


@contextmanager
def opened_engine(resources: Resources, scratch: Path) -> Iterator[Engine]:
    """Opens the selected engine and closes it at the end. Temporary data go to `scratch`."""
    need("ibis", "duckdb", "pyarrow")
    if resources.engine == "duckdb":
        opened = _duckdb(resources, scratch)
    elif resources.engine.startswith(_SPARK_LOCAL):
        need("pyspark")
        opened = _spark(resources, scratch)
    else:
        raise UserError(f"Invalid --engine {resources.engine!r}. Use duckdb, spark:local[N] or spark://HOST:PORT.")
    with opened as engine:
        yield engine


def _explained(error: Exception, path: Path) -> Exception:
    """A helpful message for an error of DuckDB, or the error itself. Errors are recognised by the name of their class,
    because DuckDB may not be installed.
    """
    again = "run the command again. Finished parts are kept."
    if type(error).__name__ == "OutOfMemoryException":
        fix = "Raise --memory or --buckets, or lower --threads, and"
        return UserError(f"{path.name} needs more memory than --memory allows. {fix} {again}")
    if type(error).__name__ == "IOException":
        fix = "Free disk space there, or set --work to another folder, and"
        return UserError(f"Cannot compute {path}: {' '.join(str(error).split())[:_SHOWN]} … {fix} {again}")
    return error


@contextmanager
def _duckdb(resources: Resources, scratch: Path) -> Iterator[Engine]:
    import ibis  # noqa: PLC0415 - of the extra `rules`

    spilled = scratch / "spilled"
    spilled.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # Ibis uses a deprecated name of DuckDB. Users cannot change that.
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        connection = ibis.duckdb.connect(
            threads=resources.threads,
            memory_limit=f"{int(resources.memory * _LEFT_FOR_OTHERS) // 2**20}MiB",
            temp_directory=str(spilled),
            preserve_insertion_order=False,
        )
        # DuckDB would print its own progress bar to standard output, which is for results.
        connection.raw_sql("SET enable_progress_bar = false")

        def read(path: Path) -> Any:
            # Spark writes nested folders.
            return connection.read_parquet(str(path / "**/*.parquet") if path.is_dir() else str(path))

        try:
            yield Engine(connection, scratch, read)
        except Exception as error:
            # Error of any DuckDB query that Ctrl-C interrupts.
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
            f"Cannot start Spark at {master}: {error}. Check that Spark is running and that Java is installed."
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
    """Checks the connection first, because Spark itself retries for a minute with long Java errors. With
    several masters, at least one must answer.
    """
    hosts = master.removeprefix(_SPARK_CLUSTER).split(",")
    failures = []
    for each in hosts:
        host, _, port = each.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
        except ValueError:
            raise UserError(f"Invalid --engine {master}. Use spark://HOST:PORT.") from None
        except OSError as error:
            failures.append(f"{each}: {error.strerror or error}")
        else:
            return
    raise UserError(
        f"Cannot connect to Spark at {master} ({', '.join(failures)}). Check the address and that Spark is running."
    )


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
