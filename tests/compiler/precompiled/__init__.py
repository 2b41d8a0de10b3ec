"""Headers of others that generated sources include, parsed once for all tests of the compiler."""
