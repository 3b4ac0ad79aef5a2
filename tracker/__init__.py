"""People, and what a person did: the personal board page."""
