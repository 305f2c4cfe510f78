"""The plan of the house, as `ARCHITECTURE.md` says it, beside the imports that are in the files."""
