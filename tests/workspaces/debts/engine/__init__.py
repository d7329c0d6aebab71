"""Production implementations of this workspace, a module a model."""
