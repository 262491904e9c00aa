"""Print the lowest declared version of every dependency of the core and its plugins, for
``pip install -c``. Tools of the tests (dependency groups, and the extra `test`) stay as
new as they are.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOUND = re.compile(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9][0-9.]*)")


def main() -> None:
    highest: dict[str, tuple[int, ...]] = {}
    for file in [ROOT / "pyproject.toml", *sorted(ROOT.glob("plugins/*/pyproject.toml"))]:
        project = tomllib.loads(file.read_text("utf-8"))["project"]
        extras = project.get("optional-dependencies", {})
        texts = list(project.get("dependencies", []))
        for name, more in extras.items():
            texts += more if name != "test" else []
        for text in texts:
            match = BOUND.match(text)
            if match and not match[1].startswith("neurogym-"):
                version = tuple(int(part) for part in match[2].split("."))
                # All packages are installed together: the highest of their bounds is the lowest
                # version that all of them accept.
                highest[match[1]] = max(highest.get(match[1], ()), version)
    for name, version in sorted(highest.items()):
        print(f"{name}=={'.'.join(map(str, version))}")


if __name__ == "__main__":
    main()
