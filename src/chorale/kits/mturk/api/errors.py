"""Errors of the API, with the wording that scripts expect."""

from chorale.model import Refusal

_FAMILY = "AWS.MechanicalTurk"


class TurkError(Refusal):
    """A rejected request. boto3 raises it as `RequestError`, with `turk_code` as its `TurkErrorCode`."""

    def __init__(self, turk_code: str, message: str, kind: str = "RequestError", status: int = 400) -> None:
        super().__init__(turk_code, message, status)
        self.turk_code = turk_code
        self.kind = kind

    @property
    def body(self) -> dict[str, str]:
        """The error as JSON."""
        if self.kind in ("RequestError", "ServiceFault"):
            return {"__type": self.kind, "Message": self.message, "TurkErrorCode": self.turk_code}
        return {"__type": self.kind, "message": self.message}


def missing(name: str) -> TurkError:
    return TurkError("AWS.MissingParameters", f"{name} is missing. Add it.")


def out_of_range(name: str, message: str) -> TurkError:
    return TurkError("AWS.ParameterOutOfRange", f"{name} {message}.")


def invalid(name: str, message: str) -> TurkError:
    return TurkError(f"{_FAMILY}.InvalidParameterValue", f"{name} {message}.")


def bad_xml(name: str, message: str) -> TurkError:
    return TurkError(f"{_FAMILY}.XMLParseError", f"{name} {message}.")


def unknown(noun: str, name: str, advice: str = "") -> TurkError:
    """Nothing of this kind has this name or ID, such as a HIT, an Assignment or a Worker."""
    return TurkError(f"{_FAMILY}.{noun}DoesNotExist", f"{noun} {name} does not exist. {advice}".strip())


def wrong_state(noun: str, message: str) -> TurkError:
    return TurkError(f"{_FAMILY}.Invalid{noun}State", message)


def exists(noun: str, message: str) -> TurkError:
    return TurkError(f"{_FAMILY}.{noun}AlreadyExists", message)


def repeated(token: str) -> TurkError:
    return TurkError(
        f"{_FAMILY}.DuplicateRequest", f"The request with the UniqueRequestToken {token} was already made."
    )


def no_funds(message: str) -> TurkError:
    return TurkError(f"{_FAMILY}.InsufficientFunds", message)


def unsupported(message: str) -> TurkError:
    return TurkError(f"{_FAMILY}.OperationNotSupported", message)


def refused_signature(kind: str, message: str) -> TurkError:
    """The caller's identity is wrong or cannot be verified."""
    return TurkError("AWS.NotAuthorized", message, kind, 403 if kind == "AccessDeniedException" else 400)
