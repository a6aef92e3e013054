"""The same comparison under several conditions: collections, slices of the queries, cutoffs, judges."""
