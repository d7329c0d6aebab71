"""The answer key inside tools that people already use: each module is thin, over the one grading code."""
