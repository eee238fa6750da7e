"""Workbooks of spreadsheets: reading a sheet as a table, writing a new one, changing cells of one that is there."""
