"""What a record is: one model a file, the metrics that claims may use, and units.

Importing this package loads no pydantic; import the module that you need.
"""
