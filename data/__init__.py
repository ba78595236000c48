"""What is solved: data sets, splits over clients, problems with exact constants and solution."""
