"""Links that a panel has signed let people in; forged, expired, replayed and foreign ones do not."""

import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from starlette.testclient import TestClient

from chorale.engine import arrivals
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.web.app import create_app
from chorale.web.signed_links import FRESH_SECONDS, PAUSE_SECONDS, PROLIFIC_ISSUER, STALE_SECONDS, KeySet
from conftest import StudyMaker
from crowd import Person, look
from small_study import write_small_study

SITE = "https://study.example.org"
KEY = rsa.generate_private_key(65537, 2048)
OTHER = rsa.generate_private_key(65537, 2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of that curve."""
IDS = {"PROLIFIC_PID": "participant-1", "STUDY_ID": "study-1", "SESSION_ID": "session-1", "workspace_id": "ours"}


def jwk(key: Any, kid: str, algorithm: str) -> dict[str, Any]:
    kind = jwt.algorithms.ECAlgorithm if algorithm == "ES256" else jwt.algorithms.RSAAlgorithm
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, "alg": algorithm, "use": "sig"}


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    usual = {"iss": PROLIFIC_ISSUER, "aud": SITE, "iat": now, "exp": now + 600, "sub": "session-1", "prolific": IDS}
    return {name: value for name, value in (usual | changes).items() if value is not None}


def signed(payload: Mapping[str, Any], key: Any = KEY, kid: str = "first", algorithm: str = "RS256") -> str:
    return jwt.encode(dict(payload), key, algorithm, headers={"kid": kid})


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_small_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    more = '[arrival]\nsigned = "prolific"\nsigning_keys = "keys.json"\nworkspace = "ours"'
    (tmp_path / "study.toml").write_text(toml.replace("[arrival]", more))
    keys = [jwk(KEY, "first", "RS256"), jwk(CURVE, "curve", "ES256")]
    (tmp_path / "keys.json").write_text(json.dumps({"keys": keys}))
    with closing(open_study(tmp_path)) as opened:
        yield opened


@pytest.fixture
def site(study: Study, tmp_path: Path) -> Iterator[TestClient]:
    app = create_app(study, public_url=SITE, folder=tmp_path)
    with TestClient(app, base_url=SITE, follow_redirects=False) as client:
        yield client


def join(site: TestClient, token: str, **more: str) -> int:
    return site.get("/join", params={"prolific_token": token, **more}).status_code


def test_a_signed_link_lets_its_person_in(site: TestClient, study: Study) -> None:
    # Whatever else the link says is not believed.
    assert join(site, signed(claims()), PROLIFIC_PID="somebody-else") == 303
    assert site.get("/").status_code == 200
    panel_ids = look(study, lambda tx: tx.exec_driver_sql("SELECT external_id FROM worker_identity").scalars().all())
    assert panel_ids == ["participant-1"]
    assert join(site, signed(claims(), CURVE, "curve", "ES256")) == 303


PUBLIC_PEM = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def by_hand(header: dict[str, Any], secret: bytes | None) -> str:
    """A token as an attacker makes it: libraries refuse to sign with a public key, or not at all."""
    import base64  # noqa: PLC0415
    import hmac  # noqa: PLC0415

    def coded(value: bytes) -> str:
        return base64.urlsafe_b64encode(value).decode().rstrip("=")

    start = f"{coded(json.dumps(header).encode())}.{coded(json.dumps(claims()).encode())}"
    return f"{start}.{'' if secret is None else coded(hmac.new(secret, start.encode(), 'sha256').digest())}"


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="none given"),
        pytest.param("not.a.token", id="no token"),
        pytest.param(signed(claims(), OTHER), id="another key under the same name"),
        pytest.param(signed(claims(), KEY, "unknown"), id="unknown key"),
        pytest.param(signed(claims(exp=int(time.time()) - 120)), id="expired"),
        pytest.param(signed(claims(exp=None)), id="never expires"),
        pytest.param(signed(claims(iss="https://evil.example")), id="another issuer"),
        pytest.param(signed(claims(aud="https://other.example.org")), id="another site"),
        pytest.param(signed(claims(aud="http://[")), id="a site that is no address"),
        pytest.param(signed(claims(aud=f"{SITE}:99999")), id="a port that is none"),
        pytest.param(signed(claims(aud=None)), id="no site"),
        pytest.param(signed(claims(prolific=IDS | {"workspace_id": "theirs"})), id="another workspace"),
        pytest.param(signed(claims(prolific=None)), id="nobody named"),
        pytest.param(signed(claims(prolific={"workspace_id": "ours"})), id="no participant"),
        pytest.param(by_hand({"alg": "none", "kid": "first"}, None), id="alg none"),
        pytest.param(by_hand({"alg": "HS256", "kid": "first"}, PUBLIC_PEM), id="the public key as a secret"),
        pytest.param(signed(claims(), KEY, "first", "RS512"), id="an algorithm that the key is not for"),
        pytest.param("a" * 9_000, id="too long"),
        pytest.param(f"{urlsafe_b64encode(b'[' * 5_700).decode()}.e30.e30", id="nested too deeply"),
    ],
)
def test_no_other_link_does(site: TestClient, study: Study, token: str) -> None:
    assert join(site, token, PROLIFIC_PID="participant-1") in (400, 403)
    assert look(study, lambda tx: tx.exec_driver_sql("SELECT count(*) FROM worker").scalar()) == 0


def test_clocks_may_differ_by_a_little(site: TestClient) -> None:
    assert join(site, signed(claims(exp=int(time.time()) - 20))) == 303


def test_a_link_lets_in_once_but_for_the_same_browser(site: TestClient, study: Study) -> None:
    token = signed(claims())
    assert join(site, token) == 303
    assert join(site, token) == 303
    stolen = TestClient(site.app, base_url=SITE, follow_redirects=False)
    assert join(stolen, token) == 403
    # From the panel's page there is a new one.
    assert join(stolen, signed(claims(iat=int(time.time()) - 1))) == 303


def test_a_used_link_with_its_signature_written_otherwise_lets_nobody_in(site: TestClient) -> None:
    token = signed(claims(), CURVE, "curve", "ES256")
    assert join(site, token) == 303
    start, _, signature = token.rpartition(".")
    pair = urlsafe_b64decode(f"{signature}==")
    # By the mathematics of the curve, every signature has a twin that is as good.
    twin = pair[:32] + (ORDER - int.from_bytes(pair[32:])).to_bytes(32)
    stolen = TestClient(site.app, base_url=SITE, follow_redirects=False)
    assert join(stolen, f"{start}.{urlsafe_b64encode(twin).decode().rstrip('=')}") == 403


def test_new_keys_are_fetched_and_old_ones_end() -> None:
    now, fetched = 1_000_000.0, 0
    published: Any = {"keys": [jwk(KEY, "first", "RS256")]}

    def fetch() -> Any:
        nonlocal fetched
        fetched += 1
        if isinstance(published, Exception):
            raise published
        return published

    keys = KeySet(fetch, lambda: now)
    assert keys.key("first") is not None
    # Nobody makes the site ask for keys as often as they like.
    assert [keys.key("unknown") for _ in range(50)] == [None] * 50
    assert fetched == 1
    now += PAUSE_SECONDS
    published = {"keys": [jwk(OTHER, "second", "RS256")]}
    assert keys.key("second") is not None and keys.key("first") is None
    published = OSError("the panel is down")
    now += FRESH_SECONDS + 1
    assert keys.key("second") is not None
    now += STALE_SECONDS
    with pytest.raises(Refusal, match="can't be checked"):
        keys.key("second")


def test_signed_links_need_to_know_the_site(study: Study, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--public-url"):
        create_app(study, folder=tmp_path)


def test_links_that_nobody_vouches_for_are_closed_in_public(make_study: StudyMaker) -> None:
    study = make_study()
    with TestClient(create_app(study, public_url=SITE), base_url=SITE, follow_redirects=False) as site:
        refused = site.get("/join", params={"PROLIFIC_PID": "made-up-0001"})
        assert refused.status_code == 403
    # A preview on one's own computer is open, and so is what the requester opens.
    with TestClient(create_app(study), follow_redirects=False) as site:
        assert site.get("/join", params={"PROLIFIC_PID": "made-up-0001"}).status_code == 303


def test_who_vouches_opens_links(make_study: StudyMaker) -> None:
    study = make_study()

    def decided(**given: bool) -> arrivals.ByUrl:
        usual = {"preview": False, "asks_prolific": False} | given
        return look(study, lambda tx: arrivals.by_url(tx, study, **usual))

    assert not decided().is_open
    assert "by_url = true" in (decided().note or "")
    assert decided(asks_prolific=True) == decided(preview=True) == (True, None)
    Person(study, "already-here")
    # A study that people came to by such links goes on, and says what to set.
    assert decided().is_open and "still work" in (decided().note or "")
