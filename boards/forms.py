"""A managed board as staff write it down."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from boards.models import ManagedBoard
from reviews.criteria import Criteria, InvalidCriteria

CRITERIA_HELP = (
    "JSON, for example {“roles”: [“data engineer”], “remote”: “only”, “max_age_days”: 30}. Fields: roles,"
    " exclude_words, exclude_companies, levels, max_years, places, remote, remote_from, employment_types,"
    " pay_min, keep_unknown_pay, sponsorship, clearance, languages, max_age_days, text."
)


class ManagedBoardForm(forms.ModelForm[ManagedBoard]):
    """Title, address and summary are edited in place; other criteria are a new revision."""

    criteria = forms.JSONField(widget=forms.Textarea(attrs={"rows": 12, "cols": 80}), help_text=CRITERIA_HELP)

    class Meta:
        model = ManagedBoard
        fields = ["title", "slug", "summary"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["criteria"] = self.instance.filter.current().criteria

    def clean_criteria(self) -> Criteria:
        given = self.cleaned_data["criteria"]
        if not isinstance(given, dict):
            raise ValidationError("Criteria are an object: {“roles”: […]}.")
        try:
            return Criteria.parse(given)
        except InvalidCriteria as invalid:
            raise ValidationError(
                [f"{field}: {problem}" for field, problem in invalid.problems.items()]
            ) from invalid
