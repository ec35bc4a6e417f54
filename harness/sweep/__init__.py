"""Many jobs on many units: planned first, then spread over the units that fit, each result kept as it comes."""
