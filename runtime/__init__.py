"""All that generated code may import. It never imports transpile."""
