"""What is promised of a method that is attacked."""

from certibit import FunctionClass, certify

N = 4
CONVEX, NONCONVEX = FunctionClass(N, 1.0, 10.0), FunctionClass.nonconvex(N, L=10.0)


def contraction(method):
    return certify(method, CONVEX, potential="search").decrease


def descent(method):
    return certify(method, CONVEX, measure="gap").c


def factor(method):
    return certify(method, CONVEX, measure="potential").c


def slope(method):
    return certify(method, NONCONVEX).c


PROMISES = [contraction, descent, factor, slope]
NEAR_THE_SOLUTION = [promise for promise in PROMISES if promise is not slope]
