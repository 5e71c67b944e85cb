"""`chorale aggregate`"""

from inspect import unwrap

from chorale.aggregate import score
from chorale.cli.scoring_commands import scoring_command

# The inner function: its errors refer to options, those of the public function to keyword arguments.
aggregate = scoring_command(
    unwrap(score), "Aggregate annotations of several people into one label per item, with its probability."
)
