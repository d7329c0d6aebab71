"""The answer key over HTTP: the wire contract of the public client, for humans a page and documentation.

Thin: every verdict comes from `concordance.grading`. Not for many tenants or quotas; put a proxy in front for that.
"""
