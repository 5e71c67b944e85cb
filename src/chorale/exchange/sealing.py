"""Files encrypted with a passphrase: AES-256-GCM with a key derived by scrypt, using the package `cryptography`.

A sealed file has a line with the format's name, a line of JSON with all parameters except the passphrase, the encrypted
bytes, and the authentication tag.
"""

import hmac
import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from chorale.model import UserError
from chorale.model.extras import need

MAGIC = b"chorale backup, encrypted\n"
SHORTEST_PASSPHRASE = 12
_SALT_BYTES, _NONCE_BYTES, _TAG_BYTES = 16, 12, 16
_KEY_BYTES = 32
_STEP = 1 << 20
_LONGEST_HEADER = 4096
# 128 MB and half a second per guess. Files may ask for up to eight times as much.
_COST = {"n": 1 << 17, "r": 8, "p": 1}
_MOST = {"n": 1 << 20, "r": 8, "p": 1}


class _Header(NamedTuple):
    line: bytes
    salt: bytes
    nonce: bytes
    cost: dict[str, int]
    check: bytes
    """Verifies the passphrase before anything is decrypted."""
    length: int
    """Length of the plain content, in bytes."""


def is_sealed(file: Path) -> bool:
    with file.open("rb") as source:
        return source.read(len(MAGIC)) == MAGIC


def seal(plain: Path, sealed: Path, passphrase: str) -> None:
    """Encrypt a file."""
    need("cryptography")
    salt, nonce, length = os.urandom(_SALT_BYTES), os.urandom(_NONCE_BYTES), plain.stat().st_size
    key, check = _keys(passphrase, salt, _COST)
    given = {"version": 1, "salt": salt.hex(), "nonce": nonce.hex(), **_COST, "check": check.hex(), "bytes": length}
    line = json.dumps(given).encode() + b"\n"
    with plain.open("rb") as source, sealed.open("wb") as target:
        os.fchmod(target.fileno(), 0o600)
        cipher = _cipher(key, nonce).encryptor()
        cipher.authenticate_additional_data(MAGIC + line)
        target.write(MAGIC + line)
        for part in _parts(source, length):
            target.write(cipher.update(part))
        cipher.finalize()
        target.write(cipher.tag)
        target.flush()
        os.fsync(target.fileno())


def unseal(sealed: Path, shown: Path, plain: Path, passphrase: str) -> None:
    """Decrypt a file. The output must not be used before this function has returned."""
    need("cryptography")
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - of an extra

    with sealed.open("rb") as source, plain.open("wb") as target:
        os.fchmod(target.fileno(), 0o600)
        header = _header(source, shown)
        whole = len(MAGIC) + len(header.line) + header.length + _TAG_BYTES
        if (size := sealed.stat().st_size) != whole:
            raise _cut(shown, size, whole)
        key, check = _keys(passphrase, header.salt, header.cost)
        if not hmac.compare_digest(check, header.check):
            raise UserError(f"{shown}: the passphrase is wrong. Use the passphrase that the backup was made with.")
        cipher = _cipher(key, header.nonce).decryptor()
        cipher.authenticate_additional_data(MAGIC + header.line)
        for part in _parts(source, header.length):
            target.write(cipher.update(part))
        try:
            cipher.finalize_with_tag(source.read(_TAG_BYTES))
        except InvalidTag:
            raise UserError(
                f"{shown} is damaged: its content does not match its checksum. Use another copy of the backup."
            ) from None


def _cut(file: Path, size: int, whole: int) -> UserError:
    problem = "is truncated" if size < whole else "has extra data at its end"
    return UserError(f"{file} {problem}: it has {size:,} bytes instead of {whole:,}. Use another copy of the backup.")


def _header(source: BinaryIO, file: Path) -> _Header:
    source.read(len(MAGIC))
    line = source.readline(_LONGEST_HEADER)
    try:
        given: dict[str, Any] = json.loads(line)
        cost = {name: int(given[name]) for name in _COST}
        salt, nonce, check = (bytes.fromhex(given[name]) for name in ("salt", "nonce", "check"))
        length, version = int(given["bytes"]), int(given["version"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise UserError(f"{file} is damaged: its first lines can't be read. Use another copy of the backup.") from None
    if version != 1:
        raise UserError(f"{file} was made by a newer Chorale (format {version}). Update Chorale and restore again.")
    is_cost = all(0 < cost[name] <= _MOST[name] for name in cost) and cost["n"].bit_count() == 1 < cost["n"]
    if not is_cost or length < 0 or (len(salt), len(nonce)) != (_SALT_BYTES, _NONCE_BYTES):
        raise UserError(f"{file} is damaged: its first lines are invalid. Use another copy of the backup.")
    return _Header(line, salt, nonce, cost, check, length)


def _keys(passphrase: str, salt: bytes, cost: dict[str, int]) -> tuple[bytes, bytes]:
    """The encryption key, and the value that verifies a passphrase."""
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt  # noqa: PLC0415 - of an extra

    made = Scrypt(salt=salt, length=2 * _KEY_BYTES, **cost).derive(passphrase.encode())
    return made[:_KEY_BYTES], sha256(made[_KEY_BYTES:]).digest()


def _cipher(key: bytes, nonce: bytes) -> Any:
    from cryptography.hazmat.primitives.ciphers import Cipher  # noqa: PLC0415 - of an extra
    from cryptography.hazmat.primitives.ciphers.algorithms import AES256  # noqa: PLC0415
    from cryptography.hazmat.primitives.ciphers.modes import GCM  # noqa: PLC0415

    return Cipher(AES256(key), GCM(nonce))


def _parts(source: BinaryIO, length: int) -> Iterator[bytes]:
    while length > 0:
        part = source.read(min(_STEP, length))
        if not part:
            return
        length -= len(part)
        yield part
