"""`python -m config.embedded`: the embedded PostgreSQL by hand."""

from __future__ import annotations

import argparse
import os
import sys

from config.embedded import Embedded, EmbeddedFailed


def main(arguments: list[str] | None = None, server: Embedded | None = None) -> int:
    """Run one verb; 0, or 1 with the reason on stderr."""
    parser = argparse.ArgumentParser(
        prog="python -m config.embedded", description="The PostgreSQL of a checkout without DATABASE_URL."
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("start", help="start it unless it runs; print the folder of its socket")
    verbs.add_parser("stop", help="stop it, disconnecting its clients")
    verbs.add_parser("status", help="print running, starting, stopping or stopped")
    verbs.add_parser("url", help="print its URL; starts nothing")
    verbs.add_parser("psql", help="start it and open psql; what follows goes to psql", add_help=False)
    verbs.add_parser("destroy", help="stop it and delete its data")
    chosen, rest = parser.parse_known_args(arguments)
    if rest and chosen.verb != "psql":
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        _do(server or Embedded(), chosen.verb, rest)
    except EmbeddedFailed as failed:
        sys.stderr.write(f"{failed}\n")
        return 1
    return 0


def _do(server: Embedded, verb: str, rest: list[str]) -> None:
    match verb:
        case "start":
            sys.stdout.write(f"{server.start()}\n")
        case "stop":
            server.stop()
        case "status":
            sys.stdout.write(f"{server.status()}\n")
        case "url":
            sys.stdout.write(f"{server.url()}\n")
        case "psql":
            server.start()
            command = server.psql(*rest[rest[:1] == ["--"] :])
            os.execv(command[0], command)  # noqa: S606
        case "destroy":
            server.destroy()


if __name__ == "__main__":
    sys.exit(main())
