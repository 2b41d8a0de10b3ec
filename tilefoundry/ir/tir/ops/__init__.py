"""The ops of TIR."""
