"""What single ops of the runtime reach on a GPU beside its ceilings: copy bandwidth and the rate of cuBLAS."""
