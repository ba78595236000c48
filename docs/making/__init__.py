"""What makes the generated pages of the site: the atlas and the reference."""
