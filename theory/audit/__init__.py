"""Proof audits: a published proof as a list of inequalities that a machine checks one by one."""
