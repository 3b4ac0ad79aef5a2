"""Large or cold bytes, kept through Django's storages: files under `var/`, or a bucket."""

from __future__ import annotations

import gzip
import hashlib

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage


def keep(folder: str, content: bytes) -> str:
    """Keep `content` once under its own hash and return its key. Raises OSError when it cannot be written.

    Two writers of one key write the same bytes, so neither needs to know of the other.
    """
    digest = hashlib.sha256(content).hexdigest()
    key = f"{folder}/{digest[:2]}/{digest}.gz"
    if default_storage.exists(key):
        return key
    return default_storage.save(key, ContentFile(gzip.compress(content, mtime=0)))


def read(key: str) -> bytes:
    """The bytes kept under `key`."""
    with default_storage.open(key) as file:
        return gzip.decompress(file.read())
