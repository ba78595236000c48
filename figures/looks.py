"""How methods look in figures: how they are written, their colours and markers."""

METHOD_LABELS = {
    "locodl": "LoCoDL",
    "adiana": "ADIANA",
    "diana": "DIANA",
    "5gcs-cc": "5GCS-CC",
    "compressed-scaffnew": "CompressedScaffnew",
    "gradskip": "GradSkip",
    "scaffold": "Scaffold",
    "tamuna": "TAMUNA",
    "scaffnew": "Scaffnew",
    "fedcomgate": "FedCOMGATE",
    "ef21": "EF21",
    "marina": "MARINA",
    "dasha": "DASHA",
    "agd": "AGD",
    "gd": "GD",
}
"""How the methods are written in figures, in the order of a legend."""

METHOD_LOOKS = {
    "locodl": ("#D55E00", "o"),
    "adiana": ("#0072B2", "s"),
    "diana": ("#56B4E9", "^"),
    "5gcs-cc": ("#009E73", "D"),
    "compressed-scaffnew": ("#CC79A7", "v"),
    "gradskip": ("#E69F00", "P"),
    "scaffold": ("#000000", "X"),
    "tamuna": ("#AA4499", "h"),
    "scaffnew": ("#882255", "d"),
    "fedcomgate": ("#661100", "*"),
    "ef21": ("#332288", "<"),
    "marina": ("#44AA99", ">"),
    "dasha": ("#999933", "p"),
    "agd": ("#666666", "8"),
    "gd": ("#666666", ""),
}
"""Colour and marker of each method.

The colours of the methods that the LoCoDL paper compares are those of Okabe and Ito, which the
colour-blind tell apart, and a grey for the yardstick; the others differ in their markers too.
"""
_OTHER_METHOD = ("#444444", "+")


def method_label(name: str) -> str:
    """Return how a method is written in figures; one without a label is called by its name."""
    return METHOD_LABELS.get(name, name)


def method_look(name: str) -> tuple[str, str]:
    """Return the colour and the marker of a method; all without a look share one."""
    return METHOD_LOOKS.get(name, _OTHER_METHOD)
