"""The filter form: criteria as a person fills them in."""

from __future__ import annotations

from typing import Any

from django import forms

from reviews.criteria import Criteria, InvalidCriteria
from reviews.models import FilterRevision

LEVELS = [
    ("intern", "Intern"),
    ("entry", "Entry"),
    ("mid", "Mid"),
    ("senior", "Senior"),
    ("lead", "Lead"),
    ("executive", "Executive"),
]
EMPLOYMENT_TYPES = [
    ("full_time", "Full time"),
    ("part_time", "Part time"),
    ("contract", "Contract"),
    ("internship", "Internship"),
    ("temporary", "Temporary"),
]
REMOTE = [
    ("any", "Any"),
    ("allowed", "Remote work may stand in for the places"),
    ("only", "Remote only"),
    ("no", "No remote work"),
]
LISTS = ("roles", "exclude_words", "exclude_companies", "places", "remote_from", "languages")


class WordsField(forms.CharField):
    """Words or phrases, divided by commas."""

    divider = ","

    def clean(self, value: Any) -> list[str]:
        text = super().clean(value)
        return [word for part in text.split(self.divider) if (word := part.strip())]

    def prepare_value(self, value: Any) -> Any:
        return f"{self.divider} ".join(value) if isinstance(value, (list, tuple)) else value


class PlacesField(WordsField):
    """Places, divided by semicolons: a comma belongs to “Berlin, Germany”."""

    divider = ";"


class FilterForm(forms.Form):
    name = forms.CharField(max_length=200, help_text="For you: it changes nothing that is selected.")
    roles = WordsField(
        required=False, help_text="Any of these in the title: “software engineer, data analyst”."
    )
    levels = forms.MultipleChoiceField(
        required=False,
        choices=LEVELS,
        widget=forms.CheckboxSelectMultiple,
        help_text="None ticked: any level.",
    )
    max_years = forms.IntegerField(
        required=False, min_value=0, max_value=40, label="Most years of experience a posting may ask for"
    )
    places = PlacesField(
        required=False, help_text="Countries, regions, states or cities: “Germany; Nordics; London, UK”."
    )
    remote = forms.ChoiceField(required=False, choices=REMOTE)
    remote_from = WordsField(
        required=False, label="Where you would work from", help_text="“Germany” or “US”."
    )
    employment_types = forms.MultipleChoiceField(
        required=False, choices=EMPLOYMENT_TYPES, widget=forms.CheckboxSelectMultiple
    )
    pay_amount = forms.FloatField(required=False, min_value=0, label="Least pay")
    pay_currency = forms.CharField(required=False, max_length=3, label="Currency", help_text="USD, EUR, …")
    pay_period = forms.ChoiceField(
        required=False, choices=[("year", "a year"), ("month", "a month"), ("hour", "an hour")], label="Per"
    )
    hide_unknown_pay = forms.BooleanField(required=False, label="Hide postings that state no pay")
    needs_sponsorship = forms.BooleanField(required=False, label="I need visa sponsorship")
    no_clearance = forms.BooleanField(required=False, label="I cannot hold a security clearance")
    languages = WordsField(
        required=False, label="Languages I work in", help_text="“English, German”: others are hidden."
    )
    exclude_words = WordsField(required=False, label="Hide titles with these words")
    exclude_companies = WordsField(required=False, label="Hide these companies")
    max_age_days = forms.IntegerField(
        required=False, min_value=1, max_value=3650, label="Posted within (days)"
    )
    text = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4}),
        max_length=4000,
        label="In your own words",
        help_text="Read by a language model where one is set up; the embedded rules leave it aside.",
    )
    on_ambiguous = forms.ChoiceField(
        choices=FilterRevision.Ambiguous, label="When the posting does not say enough", initial="drop"
    )

    @classmethod
    def initial_from(cls, revision: FilterRevision) -> dict[str, Any]:
        criteria = dict(revision.criteria)
        pay = criteria.pop("pay_min", None) or {}
        return {
            **criteria,
            "name": revision.filter.name,
            "on_ambiguous": revision.on_ambiguous,
            "pay_amount": pay.get("amount"),
            "pay_currency": pay.get("currency", ""),
            "pay_period": pay.get("period", "year"),
            "hide_unknown_pay": criteria.get("keep_unknown_pay") is False,
            "needs_sponsorship": criteria.get("sponsorship") == "needed",
            "no_clearance": criteria.get("clearance") == "none",
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            try:
                self.criteria = Criteria.parse(_criteria_data(data))
            except InvalidCriteria as invalid:
                for field, problem in invalid.problems.items():
                    self.add_error({"pay_min": "pay_amount"}.get(field, field), problem)
        return data


# Where the form holds what a rule decides by; rules of the same name as their field need no line.
RULE_FIELDS = {
    "role": "roles",
    "place": "places",
    "remote.mode": "remote",
    "pay.min": "pay_amount",
    "level": "levels",
    "experience.max_years": "max_years",
    "employment_type": "employment_types",
    "clearance": "no_clearance",
    "sponsorship": "needs_sponsorship",
    "language": "languages",
}


def field_of(rule: str) -> tuple[str, str]:
    """A rule's field in the form: (label, id in the page)."""
    name = RULE_FIELDS.get(rule, rule.replace(".", "_"))
    field = FilterForm.base_fields.get(name)
    return (str(field.label or name.replace("_", " ").capitalize()), f"id_{name}") if field else (rule, "")


def _criteria_data(data: dict[str, Any]) -> dict[str, Any]:
    """The form's answers as criteria: what was left empty asks for nothing and is left out."""
    plain = (*LISTS, "levels", "employment_types", "max_years", "max_age_days", "text")
    given = {name: data[name] for name in plain if data.get(name) not in (None, "", [])}
    if data.get("remote") and data["remote"] != "any":
        given["remote"] = data["remote"]
    if data.get("pay_amount"):
        given["pay_min"] = {
            "amount": data["pay_amount"],
            "currency": data["pay_currency"].upper(),
            "period": data["pay_period"] or "year",
        }
    if data.get("hide_unknown_pay"):
        given["keep_unknown_pay"] = False
    if data.get("needs_sponsorship"):
        given["sponsorship"] = "needed"
    if data.get("no_clearance"):
        given["clearance"] = "none"
    return given
