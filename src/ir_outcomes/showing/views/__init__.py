"""What is shown of results, in a module for each package of results."""
