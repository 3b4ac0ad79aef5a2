"""The rules that need no model: pure functions from criteria and a posting to a step with its sentence."""
