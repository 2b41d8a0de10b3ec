"""What stands between a user and a kernel: the cost of a call, of a lookup, of a compile."""
