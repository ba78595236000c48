"""Where many curves are computed: on this machine, on SLURM, or on the workers of dask."""
