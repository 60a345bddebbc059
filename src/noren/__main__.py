"""Run Noren as `python -m noren`."""

from noren.cli import main

if __name__ == "__main__":
    main()
