"""The same comparison on several collections, slices, cutoffs or judges, and gates."""
