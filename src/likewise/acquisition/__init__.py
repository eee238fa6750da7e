"""What is an object worth? Scores from mean and variance, and the scorer that gives one for any object."""
