"""Payout addresses: entered on the worker's page, encrypted in the database, erased once people are paid.

The key is derived from a secret of the study and from CHORALE_ADDRESS_KEY, if it is set: then addresses can't be
decrypted from a copy of the database alone.
"""

import base64
import json
import os
import secrets
from hashlib import sha256
from typing import Any, NamedTuple

from chorale.engine.running import Study
from chorale.files.addresses import is_address
from chorale.model import Refusal, UserError
from chorale.model.extras import need
from chorale.model.wording import worded
from chorale.platforms.paypal import LONGEST_RECEIVER
from chorale.store import Tx, events, payments, payout_addresses
from chorale.store.payout_addresses import SealedAddress
from chorale.store.settings import known_secret, secret

KEY_VARIABLE = "CHORALE_ADDRESS_KEY"
METHODS = {"paypal": "PayPal", "wise": "Wise", "gift-card": worded("Gift card")}
"""Labels for workers, by the study file's names."""
LONGEST_NAME = 100
PAYPAL_TAKES = worded(
    "PayPal accepts e-mail addresses of at most {length} characters, without accents. Enter another one.",
    length=LONGEST_RECEIVER,
)
SECRET = "payout addresses"  # noqa: S105 - what the secret is for
_NONCE = 12


class PayoutAddress(NamedTuple):
    method: str
    email: str
    name: str
    left_at: int


def leave_address(tx: Tx, study: Study, worker_id: int, method: str, email: str, name: str) -> None:
    """Store a worker's payout address; Refusal if it is invalid."""
    email, name = email.strip(), " ".join(name.split())
    if method not in study.settings.pay.methods:
        raise Refusal("no_such_method", worded("Choose one of the payment methods on the page."), 422)
    # A spreadsheet would treat a cell that begins like a formula as one.
    if not is_address(email) or email.startswith(("=", "+", "-", "@")):
        raise Refusal("not_an_address", worded("Enter one e-mail address, such as name@example.org."), 422)
    if method == "paypal" and (len(email) > LONGEST_RECEIVER or not email.isascii()):
        raise Refusal("not_for_paypal", PAYPAL_TAKES, 422)
    if len(name) > LONGEST_NAME or not name.isprintable() or (method == "wise" and not name):
        raise Refusal(
            "no_name",
            worded(
                "Enter the name on your bank account, with at most {length} letters. Wise needs it.",
                length=LONGEST_NAME,
            ),
            422,
        )
    nonce = secrets.token_bytes(_NONCE)
    text = json.dumps({"email": email, "name": name}).encode()
    sealed = nonce + _cipher(secret(tx, SECRET)).encrypt(nonce, text, _bound_to(worker_id))
    now = study.clock()
    payout_addresses.leave(tx, worker_id, method, base64.b64encode(sealed).decode(), now)
    events.record(tx, now, "payout address left", {"method": method}, worker_id=worker_id)


def address_of(tx: Tx, worker_id: int) -> PayoutAddress | None:
    sealed = payout_addresses.sealed_of(tx, worker_id)
    return None if sealed is None else _opened(_cipher(known_secret(tx, SECRET)), worker_id, sealed)


def addresses_for(tx: Tx, method: str | None = None) -> dict[int, PayoutAddress]:
    """Payout addresses by worker: all, or those for one payment method.

    Addresses that can't be decrypted are left out: see `unreadable_addresses`.
    """
    opened = _all_opened(tx)
    return {
        worker_id: address
        for worker_id, address in opened.items()
        if address is not None and method in (None, address.method)
    }


def unreadable_addresses(tx: Tx) -> set[int]:
    """The workers whose address can't be decrypted with the key of this process."""
    return {worker_id for worker_id, address in _all_opened(tx).items() if address is None}


def _all_opened(tx: Tx) -> dict[int, PayoutAddress | None]:
    sealed = payout_addresses.all_sealed(tx)
    cipher = _cipher(known_secret(tx, SECRET)) if sealed else None
    opened: dict[int, PayoutAddress | None] = {}
    for worker_id, kept in sealed.items():
        try:
            opened[worker_id] = _opened(cipher, worker_id, kept)
        except UserError:
            opened[worker_id] = None
    return opened


def erase_if_paid(tx: Tx, study: Study, worker_ids: set[int]) -> None:
    """Erase the addresses of people who are fully paid."""
    for account in payments.accounts(tx):
        done = not account.owed and not account.on_the_way
        if account.worker_id in worker_ids and done and payout_addresses.erase(tx, account.worker_id):
            events.record(tx, study.clock(), "payout address erased", {}, worker_id=account.worker_id)


def _opened(cipher: Any, worker_id: int, kept: SealedAddress) -> PayoutAddress:
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - of an extra

    sealed = base64.b64decode(kept.sealed)
    try:
        text = cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound_to(worker_id))
    except InvalidTag:
        raise UserError(
            f"Payout addresses can't be decrypted. Set {KEY_VARIABLE} to its value at the time they were entered. If "
            "it is lost, ask people to enter their addresses again."
        ) from None
    known = json.loads(text)
    return PayoutAddress(kept.method, known["email"], known["name"], kept.left_at)


def _bound_to(worker_id: int) -> bytes:
    """The associated data of a worker's address: moved to another worker, it can't be decrypted."""
    return f"worker {worker_id}".encode()


def _cipher(of_study: str) -> Any:
    """The cipher: AES-256-GCM with the study's key."""
    need("cryptography")
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - of an extra
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF  # noqa: PLC0415

    salt = sha256(os.environ.get(KEY_VARIABLE, "").encode()).digest()
    key = HKDF(SHA256(), 32, salt, b"payout addresses").derive(of_study.encode())
    return AESGCM(key)
