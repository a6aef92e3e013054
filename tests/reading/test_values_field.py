"""The public cases about values of other tools: each command gives what is right."""
