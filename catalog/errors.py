from __future__ import annotations


class UnknownPlatform(Exception):
    """The URL names no board of a platform that can be read."""

    def __init__(self, url: str, why: str = "") -> None:
        super().__init__(f"no hiring platform's board is recognised in {url}" + (f": {why}" if why else ""))
        self.why = why


class InvalidCompany(Exception):
    """What was given as an employer's name cannot be one."""


class PullFailed(Exception):
    """A pull ended without a reading; `fault` is the kind of failure as the pull's row names it."""

    def __init__(self, fault: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = fault


class Overtaken(Exception):
    """A newer reading of the same source was recorded meanwhile: this one has nothing to say any more."""
