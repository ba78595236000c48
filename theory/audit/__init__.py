"""Proof audits: a proof as a list of inequalities that a machine checks one by one."""
