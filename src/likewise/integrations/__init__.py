"""likewise inside scikit-learn and Optuna. Each file needs its library, and nothing else imports it."""
