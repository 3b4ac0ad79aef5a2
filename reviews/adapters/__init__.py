"""Reviewers: one module a provider. No database."""
