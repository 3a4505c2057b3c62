"""The program of every process that perhop starts in Python: `python -I .../entry.py`.

`-I` removes the current folder, PYTHONPATH and the user's own packages from the path. A file in these places,
such as `json.py`, would otherwise run with the rights of the testbed. With `-I`, Python does not find a
perhop in these places. Therefore this program loads the package that contains this file, and does not change
the path.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def load_package() -> None:
    """Load the package `perhop` around this file."""
    folder = Path(__file__).resolve().parents[1]
    spec = spec_from_file_location(
        folder.name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a Python package")
    package = module_from_spec(spec)
    sys.modules[folder.name] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    load_package()
    from perhop.live.inside import main  # lazy: found only now

    sys.exit(main(sys.argv[1:]))
