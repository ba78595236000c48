"""Promise against measurement: one step, whole runs, channel, bills, scaling laws."""
