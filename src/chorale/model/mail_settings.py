"""Settings for sending e-mail. Descriptions are the documentation (docs/settings.md)."""

from typing import Literal

from pydantic import Field, field_validator

from chorale.model.setting_types import Settings

INVITATION_TEXT = """\
You are invited to take part in “{title}”. This link is yours alone:

{link}

Open it to read what the study is about. You will not be asked anything until you agree.
"""


class MailSettings(Settings):
    host: str = Field(min_length=1, max_length=253, description="The SMTP server that sends your e-mail.")
    port: int = Field(default=587, ge=1, le=65535, description="The port of the SMTP server.")
    security: Literal["starttls", "tls", "none"] = Field(
        default="starttls", description="How the connection is encrypted. `none` is for a server on the same computer."
    )
    username: str | None = Field(
        default=None,
        description="User name on the SMTP server. Put the password into the environment variable "
        "CHORALE_SMTP_PASSWORD.",
    )
    sender: str = Field(pattern=r"^[^@\s<>,]+@[^@\s<>,]+$", description="The sender's e-mail address.")
    results: bool = Field(
        default=True,
        description="Whether people who were invited by e-mail also get the study's messages by e-mail, such as their "
        "results.",
    )
    invitation: str = Field(
        default=INVITATION_TEXT,
        max_length=10_000,
        description="The text of invitations. `{link}` is replaced by the person's link, and `{title}` by the title "
        "of the study.",
    )

    @field_validator("invitation")
    @classmethod
    def _has_link(cls, value: str) -> str:
        if "{link}" not in value:
            raise ValueError("has no {link} in it. Write {link} where the link of each person goes.")
        return value
