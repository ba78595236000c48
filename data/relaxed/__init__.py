"""(L0, L1)-smooth problems with closed constants, and the noise of their gradients."""
