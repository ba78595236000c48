"""Extension: data that stay in a file, and problems of very many clients."""
