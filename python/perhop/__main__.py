"""`python -m perhop` is `perhop`."""

from perhop.command import main

if __name__ == "__main__":
    main()
