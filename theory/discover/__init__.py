"""Search for methods: a grammar of linear steps, screened on quadratics and then certified."""
