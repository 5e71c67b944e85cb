"""Redirects boto3's Mechanical Turk client to a study, in any Python with this folder on PYTHONPATH.

Python imports this module when it starts. `chorale mturk run` sets CHORALE_ENDPOINT and the keys. The client then
connects to that site, whatever endpoint, region, keys or profile the script sets. The module needs only the standard
library, because scripts run in their own environments.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import sys
from functools import wraps
from pathlib import Path
from typing import Any

ENDPOINT = "CHORALE_ENDPOINT"
KEY = "CHORALE_ACCESS_KEY"
SECRET = "CHORALE_SECRET_KEY"  # noqa: S105 - the name of a variable, not a secret
SERVICE = "mturk"
REGION = "us-east-1"
_WARNING = "x-chorale-warning"
_OLD_BOTO = (
    "boto 2 uses the 2014 API of Mechanical Turk, which Chorale does not support. Change the script to boto3, whose "
    "operations have the same names."
)


def _point_here(session: Any) -> None:
    """Patches the clients that `botocore.session` creates."""
    make, read_config = session.Session.create_client, session.Session.get_scoped_config
    signature = inspect.signature(make)
    seen: set[str] = set()

    def show_warning(http_response: Any, **_: Any) -> None:
        warning = http_response.headers.get(_WARNING)
        if warning and warning not in seen:
            seen.add(warning)
            sys.stderr.write(f"chorale: {warning}\n")

    @wraps(make)
    def create_client(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options)
        here = given.arguments.get("service_name") == SERVICE
        if here:
            given.arguments["endpoint_url"] = os.environ[ENDPOINT]
            given.arguments["region_name"] = given.arguments.get("region_name") or REGION
            given.arguments["aws_session_token"] = None
            if KEY in os.environ:
                given.arguments["aws_access_key_id"] = os.environ[KEY]
                given.arguments["aws_secret_access_key"] = os.environ[SECRET]
        client = make(*given.args, **given.kwargs)
        if here:
            client.meta.events.register(f"after-call.{SERVICE}", show_warning)
        return client

    @wraps(read_config)
    def get_scoped_config(self: Any) -> Any:
        try:
            return read_config(self)
        except session.ProfileNotFound:
            # Settings of the script's AWS account. The keys now come from the environment.
            return {}

    session.Session.create_client = create_client
    session.Session.get_scoped_config = get_scoped_config


class _Changed(importlib.abc.Loader):
    """Wraps a loader, and patches the module before it is used."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        _point_here(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, _target: Any = None) -> Any:
        if name == "boto.mturk":
            raise ImportError(_OLD_BOTO)
        if name != "botocore.session":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Changed(spec.loader)
        return spec


def _load_shadowed() -> None:
    """Loads the module that this module shadows."""
    here = Path(__file__).parent.resolve()
    others = [entry for entry in sys.path if Path(entry).resolve() != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get(ENDPOINT):
    sys.meta_path.insert(0, _Finder())
_load_shadowed()
