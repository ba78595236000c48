"""Problems with a ridge: logistic regression and quadratics, with exact constants and solution."""
