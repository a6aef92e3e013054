"""What is shown of results: views in every format, figures and pages."""
