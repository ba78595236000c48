"""The commands: a module has ``COMMANDS``, by name the function and the options of each."""

SUMMARIES = {
    "audit": ("results", "audit the proofs of papers, step by step"),
    "certify": ("certify", "prove the worst-case convergence rate of one method"),
    "check": ("check", "check a method against its theorems"),
    "compare": ("compare", "compare the bits, rounds and gradients of several methods"),
    "completion": ("completion", "print a script that completes commands in a shell"),
    "deep": ("results", "train networks by the methods of EPISODE and others with few bits"),
    "demo": ("results", "run all methods on data that needs no file"),
    "export": ("export", "write a proof to a file for another checker"),
    "figures": ("results", "draw the figures of the papers, certificates and theorems"),
    "figures certified": ("results", "compare certified with published rates and parameters"),
    "figures episode": ("results", "draw the figures of the EPISODE paper"),
    "figures theory": ("results", "check every theorem on standard problems"),
    "list": ("list", "print the names of methods, compressors and data sets"),
    "new": ("new", "write a method, a compressor or a loss to begin with"),
    "plan": ("plan", "compute the cost that theorems promise for every method"),
    "report": ("results", "write one HTML page of all results"),
    "run": ("run", "run one method on one problem"),
}
"""The module of every command, which is slow to import, and what the command does.

A command of two words is shown by the help of its first word.
"""
