"""`chorale aggregate`"""

from inspect import unwrap

from chorale.aggregate import score
from chorale.cli.scoring_commands import scoring_command

# Without what names keywords in its errors: here they are options.
aggregate = scoring_command(
    unwrap(score), "Aggregate annotations of several people into one label per item, with its probability."
)
