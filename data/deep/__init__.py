"""Problems of torch modules; torch is loaded when one is made."""
