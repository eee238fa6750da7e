"""Objects as JSON data."""
