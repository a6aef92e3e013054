"""How results are shown: what to show is in `views`, and each format is one module that knows nothing of the results."""
