"""Command line, report, pictures and integrations: how people and other programs meet the study."""
