"""The `tilefoundry` command."""
