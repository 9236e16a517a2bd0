"""Exceptions and warnings. Their classes are the exit codes of the command line."""


class Error(Exception):
    """A call that has no result. The text is that of the command line."""

    #: Exit code of the command line: see docs/exit-codes.md.
    exit_code = 2


class InputError(Error, ValueError):
    """An argument or one of its files is wrong: exit code 2."""


class EnvironmentError(Error):
    """The environment prevents a result, such as a missing permission: exit code 3."""

    exit_code = 3


class PartialResultWarning(UserWarning):
    """The result is incomplete, such as that of a truncated capture. Run.partial is the reason."""
