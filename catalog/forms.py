"""What a person says of a source: shapes of input, each refused in words before anything is asked for it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from catalog.errors import InvalidCompany
from catalog.links import MAX_LENGTH
from catalog.models.sources import check_title_pattern
from catalog.services.sources import check_company


def check_printable(text: str) -> None:
    """Raises ValidationError for characters that no row can keep or nobody can see."""
    if not text.isprintable():
        raise ValidationError("it holds characters that cannot be printed")


class LineField(forms.CharField):
    """One line of text. Its own validators stand alone: Django's word for a NUL tells a person nothing."""

    def __init__(self, *, check: Any, **options: Any) -> None:
        super().__init__(required=False, **options)
        self.validators = [check]


def _check_url(url: str) -> None:
    check_printable(url)
    if len(url) > MAX_LENGTH:
        raise ValidationError(f"it is longer than {MAX_LENGTH:,} characters")


def _check_company(company: str) -> None:
    try:
        check_company(company)
    except InvalidCompany as refused:
        raise ValidationError(str(refused)) from refused


class SourceForm(forms.Form):
    """An address, whose it is, and which titles to admit; each may be missing."""

    url = LineField(check=_check_url)
    company = LineField(check=_check_company)
    titles = LineField(check=check_title_pattern)

    def typed(self) -> dict[str, str]:
        """What was typed, whatever it is worth: a page that refuses it shows it again."""
        return {name: str(self.data.get(name, "")).replace("\0", "").strip() for name in self.fields}

    def refusal(self) -> str:
        """Why it is refused, "" where it is not."""
        labels = {"url": "The address: "}
        for name, errors in self.errors.as_data().items():
            said = labels.get(name, "") + str(errors[0].message)
            return f"{said[:1].upper()}{said[1:]}."
        return ""
