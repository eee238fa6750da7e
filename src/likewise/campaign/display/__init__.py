"""What people are shown of objects, numbers and reasons: names, digits and words."""
