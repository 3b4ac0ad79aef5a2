"""A person's mail. The app's place in the order of imports; its models come with the mail work."""
