"""Pictures as matplotlib figures. They draw what they are handed."""
