"""The layers that `ARCHITECTURE.md` describes, compared with the imports in the files."""
