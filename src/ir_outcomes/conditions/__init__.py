"""The same comparison on several collections, slices or judges, and gates."""
