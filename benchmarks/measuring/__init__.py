"""What the benchmarks share: processes and terminals to measure, and figures beside their goals."""
