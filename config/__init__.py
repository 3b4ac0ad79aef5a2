"""Settings, environment, the embedded database and the wiring of the apps."""
