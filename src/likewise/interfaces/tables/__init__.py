"""Spreadsheets in and out: CSV, TSV and Parquet, compressed or not, as people really save them."""
