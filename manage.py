#!/usr/bin/env python
"""Rolecall's command line: `python manage.py help` lists the commands."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        sys.exit(130)  # as a shell says it: ended by Ctrl-C


if __name__ == "__main__":
    main()
