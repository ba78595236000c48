"""Files and objects of a user: how they are loaded, named and described."""
