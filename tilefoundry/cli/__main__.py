"""``python -m tilefoundry.cli``."""

from tilefoundry.cli.main import main

if __name__ == "__main__":
    main()
