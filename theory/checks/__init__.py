"""Promise against measurement, in rooms: compressor, problem, channel, method, trace."""
