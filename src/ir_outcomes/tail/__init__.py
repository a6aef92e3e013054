"""All relevant documents, however far down: distributions of search lengths, headroom, and what averaging precision hides."""
