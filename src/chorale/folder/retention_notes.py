"""How long data about people are kept, in words."""

from chorale.model.settings import RetentionSettings

NOT_SET = (
    "No retention dates are set: data about people are kept until you erase them. Set `retention.identities_days` in "
    "study.toml to what your consent form says."
)


def retention_sentences(rule: RetentionSettings) -> list[str]:
    """What is erased when."""
    if not rule.acts:
        return [NOT_SET]
    after = "days after somebody was last here"
    sentences = []
    if rule.identities_days is not None:
        sentences.append(
            f"Platform IDs, e-mail addresses and messages are erased {rule.identities_days:,} {after}, once they are "
            "paid."
        )
    if rule.answers_days is not None:
        sentences.append(f"Answers are erased {rule.answers_days:,} {after}.")
    return sentences
