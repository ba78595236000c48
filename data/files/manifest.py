"""The binary data sets of the LibSVM page by name, with sizes and SHA-256 where known.

For the named data sets the SHA-256 of the text is known and checked. Every other file of the page
is ``libsvm:NAME``; only the d and N that the page states are known of it.

The name ``breast-cancer`` is scikit-learn's bundled set (Wisconsin Diagnostic, 569 rows), which
needs no file; its features are standardised here: zero mean, unit variance. The file of that name
on the LibSVM page is another set (683 rows): ``libsvm:breast-cancer``.
"""

from dataclasses import dataclass

ADDRESS = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
"""The folder of the LibSVM page that holds the files."""

BUNDLED = "breast-cancer"
"""The set that needs no file."""

PREFIX = "libsvm:"
"""Prefix of the name of a file of the page whose SHA-256 is unknown."""


@dataclass(frozen=True)
class Manifest:
    """The expected content of a file.

    Parameters
    ----------
    rows : int
    nonzeros : int
        Entries that are not zero, whether or not the file writes zeros out.
    negatives, positives : int
        Rows of the smaller and of the larger label value.
    sha256 : str
        SHA-256 of the text with LF line ends, without trailing white space and blank lines, with
        one final newline; copies that differ only in line ends agree.
    """

    rows: int
    nonzeros: int
    negatives: int
    positives: int
    sha256: str


@dataclass(frozen=True)
class LibSVMFile:
    """One file of the LibSVM page.

    Parameters
    ----------
    name : str
        Name by which it is selected.
    file : str
        Name of the file on the page.
    features : int
        Number of features d. Without a manifest it is the page's figure; a file of one's own with
        a larger index has more.
    rows : int, optional
        Number of rows N, the page's figure.
    manifest : Manifest, optional
        What was counted in the file itself.
    """

    name: str
    file: str
    features: int
    rows: int | None = None
    manifest: Manifest | None = None


_MANIFESTS = {
    "a5a": Manifest(
        6414, 88939, 4845, 1569, "3a2b1bf7b3215a01da52664dc61a6eef749d959528306b7b8c6f4ea95c16e008"
    ),
    "w1a": Manifest(
        2477, 28410, 2405, 72, "f17b66acbf9cea176fe1a0e1fe97fdaa7e916a6d7e26e19ae1061f9e0dcf99b0"
    ),
    "diabetes": Manifest(
        768, 5381, 268, 500, "419ba20be4862fc53a6fe92e55a84a53ae0075df06632c07592a17d619b5cb23"
    ),
    "diabetes_scale": Manifest(
        768, 6135, 268, 500, "b1e97d6357ebdbf86826ff357093148a59f0237d57c127885a7c43868896c9c1"
    ),
    "australian": Manifest(
        690, 7724, 383, 307, "c43bdd0b66d83fb7a939baf0b7ad6d54311df79a7f182f513f6a72413078be75"
    ),
    "australian_scale": Manifest(
        690, 8447, 383, 307, "afdad9688b24bbc37b3f442434d5bf9fd06b18561198954eb55e9fa5eb2ae6e7"
    ),
}

_FEATURES = {"a5a": 122, "w1a": 300, "diabetes": 8, "australian": 14}
"""d of the sets with a manifest; it is that of the scaled ones too."""

_PAGE = {
    "a1a": (123, 1605),
    "a2a": (123, 2265),
    "a3a": (123, 3185),
    "a4a": (123, 4781),
    "a6a": (123, 11220),
    "a7a": (123, 16100),
    "a8a": (123, 22696),
    "a9a": (123, 32561),
    "breast-cancer": (10, 683),
    "breast-cancer_scale": (10, 683),
    "cod-rna": (8, 59535),
    "colon-cancer": (2000, 62),
    "covtype.binary": (54, 581012),
    "covtype.binary_scale": (54, 581012),
    "duke": (7129, None),
    "epsilon": (2000, 400000),
    "fourclass": (2, 862),
    "fourclass_scale": (2, 862),
    "german.numer": (24, 1000),
    "german.numer_scale": (24, 1000),
    "gisette_scale": (5000, 6000),
    "heart": (13, 270),
    "heart_scale": (13, 270),
    "ijcnn1": (22, 49990),
    "ionosphere": (34, 351),
    "ionosphere_scale": (34, 351),
    "leukemia": (7129, None),
    "liver-disorders": (5, None),
    "liver-disorders_scale": (5, None),
    "madelon": (500, 2000),
    "mushrooms": (112, 8124),
    "news20.binary": (1355191, 19996),
    "phishing": (68, 11055),
    "rcv1.binary": (47236, 20242),
    "real-sim": (20958, 72309),
    "skin_nonskin": (3, 245057),
    "sonar": (60, 208),
    "sonar_scale": (60, 208),
    "splice": (60, 1000),
    "splice_scale": (60, 1000),
    "svmguide1": (4, 3089),
    "svmguide3": (22, 1243),
    "w2a": (300, 3470),
    "w3a": (300, 4912),
    "w4a": (300, 7366),
    "w5a": (300, 9888),
    "w6a": (300, 17188),
    "w7a": (300, 24692),
    "w8a": (300, 49749),
}
"""d and N of the other files by the page, as the table of data sets of LIBSVMdata.jl repeats them;
None where N is not known here."""

_FILES = {
    "colon-cancer": "colon-cancer.bz2",
    "covtype.binary": "covtype.libsvm.binary.bz2",
    "covtype.binary_scale": "covtype.libsvm.binary.scale.bz2",
    "duke": "duke.bz2",
    "epsilon": "epsilon_normalized.bz2",
    "gisette_scale": "gisette_scale.bz2",
    "ijcnn1": "ijcnn1.bz2",
    "ionosphere": "ionosphere_scale",
    "leukemia": "leu.bz2",
    "news20.binary": "news20.binary.bz2",
    "rcv1.binary": "rcv1_train.binary.bz2",
    "real-sim": "real-sim.bz2",
    "sonar": "sonar_scale",
}
"""Files whose name differs from that of the set; sonar and ionosphere exist scaled only."""

CATALOGUE = {
    name: LibSVMFile(name, name, _FEATURES[name.removesuffix("_scale")], manifest=manifest)
    for name, manifest in _MANIFESTS.items()
} | {
    PREFIX + name: LibSVMFile(PREFIX + name, _FILES.get(name, name), features, rows)
    for name, (features, rows) in _PAGE.items()
}
"""The files by name."""

NAMES = sorted([BUNDLED, *_MANIFESTS])
"""The named data sets, whose SHA-256 is known."""
