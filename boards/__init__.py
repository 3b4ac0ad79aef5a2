"""Computed membership, managed boards, publication and public pages."""
