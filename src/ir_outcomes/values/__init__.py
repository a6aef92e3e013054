"""Values of measures by query that other tools computed."""
