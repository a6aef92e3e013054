"""All relevant documents, however far down: what averaging precision hides."""
