"""The production engine of the published models: numpy columns, every case of a batch at once.

It answers within a hundredth of the published tolerance, with exact decisions, and settles what float64 cannot prove.
It is not the definition (that is `specs/`), does not validate inputs, and knows no case, file or request.
"""
