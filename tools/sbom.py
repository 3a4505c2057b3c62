"""Write the software bill of materials of a release, as CycloneDX 1.6 in JSON.

The document lists the crates compiled into the extension module and the playground's module (`cargo tree`,
hashes of Cargo.lock), the script in the report (requirements/bundled.toml) and the scripts in the playground
(its package-lock), and the Python packages that perhop needs or can use (the installed versions, with hashes
of requirements/dev.lock). cyclonedx-python-lib writes the document. cargo-cyclonedx and cyclonedx-py each
support only one of the three kinds of packages; cyclonedx-py writes either licenses or hashes, and
cargo-cyclonedx writes the name of the build folder. For the same commit, the document has the same bytes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
import uuid
from base64 import b64decode
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from python_licenses import license_of, locked, normalized

ROOT = Path(__file__).parent.parent
REPOSITORY = "https://github.com/perhop/perhop"
# Extras whose packages are pinned. `notebook` is not pinned, because any Jupyter works.
EXTRAS = ("plot", "pandas", "live")


def sha256(digest: str) -> HashType:
    """Return a hash in the form of CycloneDX."""
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


def component(
    kind: str,
    name: str,
    version: str,
    license: str | None,
    *,
    own: bool = False,
    **more: Any,  # noqa: ANN401 - all arguments of Component
) -> Component:
    """Describe a package of an index (`cargo`, `pypi`, `npm`), or one of perhop's own crates."""
    url = PackageURL(
        kind, name=name, version=version, qualifiers={"vcs_url": f"git+{REPOSITORY}"} if own else None
    )
    licenses = [LicenseExpression(license.replace("/", " OR "))] if license else []
    return Component(
        type=more.pop("type", ComponentType.LIBRARY),
        name=name,
        version=version,
        purl=url,
        bom_ref=url.to_string(),
        licenses=licenses,
        **more,
    )


def compiled(edges: str) -> set[tuple[str, str]]:
    """Return names and versions, from cargo, of the crates of the extension module on all platforms.

    `cargo metadata` would also return crates that only features of the crates' tests need.
    """
    line = [
        "cargo",
        "tree",
        "--locked",
        "--package",
        "perhop-py",
        "--package",
        "perhop-web",
        "--target",
        "all",
        "--prefix",
        "none",
    ]
    line += ["--edges", edges, "--format", "{p}"]
    shown = subprocess.run(line, cwd=ROOT, capture_output=True, check=True, text=True).stdout
    rows = [row.split() for row in shown.splitlines() if row]
    return {(row[0], row[1].removeprefix("v")) for row in rows}


def crates(bom: Bom) -> list[Component]:
    """Add every crate of the extension module and the playground; return the two crates of these modules.

    Crates that only build scripts need have the scope `excluded`: they run during the build and are not in
    the wheel.
    """
    line = ["cargo", "metadata", "--locked", "--quiet", "--format-version", "1"]
    found = json.loads(subprocess.run(line, cwd=ROOT, capture_output=True, check=True).stdout)
    pinned = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(crate["name"], crate["version"]): crate.get("checksum") for crate in pinned}
    shipped, built = compiled("normal"), compiled("normal,build")
    made = {}
    for package in found["packages"]:
        name, version = crate = package["name"], package["version"]
        if crate not in built:
            continue
        checksum = checksums[crate]
        made[package["id"]] = component(
            "cargo",
            name,
            version,
            package["license"],
            own=package["source"] is None,
            hashes=[sha256(checksum)] if checksum else [],
            scope=ComponentScope.REQUIRED if crate in shipped else ComponentScope.EXCLUDED,
        )
    bom.components.update(made.values())
    for node in found["resolve"]["nodes"]:
        if entry := made.get(node["id"]):
            kinds = {dep["pkg"]: {kind["kind"] for kind in dep["dep_kinds"]} for dep in node["deps"]}
            bom.register_dependency(
                entry, [made[key] for key in kinds if key in made and kinds[key] != {"dev"}]
            )
    return [entry for entry in made.values() if entry.name in ("perhop-py", "perhop-web")]


def python_packages(bom: Bom, requirements: Iterable[str], scope: ComponentScope) -> list[Component]:
    """Add the pinned packages that these requirements need, and return the packages that they name."""
    pins = locked()
    existing = {present.bom_ref.value: present for present in bom.components}

    def add(requirement: Requirement) -> Component:
        name = normalized(requirement.name)
        # A KeyError means that the installed version is not pinned.
        version = metadata.version(name)
        hashes = pins[name][version]
        added = component("pypi", name, version, license_of(name), scope=scope)
        if known := existing.get(added.bom_ref.value):
            return known
        # The lock does not name the file that is installed on a machine.
        files = ExternalReference(
            type=ExternalReferenceType.DISTRIBUTION,
            url=XsUri(str(added.purl)),
            comment="the wheels and the source distribution; an installed file has one of these hashes",
            hashes=[sha256(digest) for digest in sorted(hashes)],
        )
        added.external_references.add(files)
        bom.components.add(added)
        existing[added.bom_ref.value] = added
        further = [Requirement(text) for text in metadata.requires(name) or []]
        extras = ["", *requirement.extras]
        taken = [
            add(need)
            for need in further
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras)
        ]
        bom.register_dependency(added, taken)
        return added

    return [add(Requirement(text)) for text in requirements]


def bundled(bom: Bom) -> list[Component]:
    """Add the third-party files in the package, with the sources from which they are built."""
    made = []
    for file in tomllib.loads((ROOT / "requirements" / "bundled.toml").read_text())["file"]:
        script = component(
            "npm", file["name"], file["version"], file["license"], scope=ComponentScope.REQUIRED
        )
        script.hashes.add(sha256(file["sha256"]))
        script.properties.add(Property(name="perhop:path", value=file["path"]))
        bom.components.add(script)
        parts = [component("npm", part["name"], part["version"], part["license"]) for part in file["parts"]]
        for part in parts:
            bom.components.add(part)
        bom.register_dependency(script, parts)
        made.append(script)
    return made


def scripts(bom: Bom) -> list[Component]:
    """Add the npm packages that the playground's script contains."""
    lock = json.loads((ROOT / "playground" / "package-lock.json").read_text())["packages"]
    made = []
    for place, package in lock.items():
        if not place or package.get("dev") or package.get("optional"):
            continue
        digest = package["integrity"].removeprefix("sha512-")
        name = place.removeprefix("node_modules/")
        script = component("npm", name, package["version"], package["license"], scope=ComponentScope.REQUIRED)
        # The script of the report is a file of a package that the playground also uses in part.
        script = next((known for known in bom.components if known.bom_ref == script.bom_ref), script)
        bom.components.discard(script)
        script.hashes.add(HashType(alg=HashAlgorithm.SHA_512, content=b64decode(digest).hex()))
        bom.components.add(script)
        made.append(script)
    return made


def bill() -> str:
    """Return the document, dated by SOURCE_DATE_EPOCH (seconds since 1970); without it, raise KeyError."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    bom = Bom()
    bom.metadata.timestamp = datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
    top = component("pypi", "perhop", version, project["license"], type=ComponentType.APPLICATION)
    bom.metadata.component = top
    direct = [*crates(bom), *bundled(bom), *scripts(bom)]
    direct += python_packages(bom, project["dependencies"], ComponentScope.REQUIRED)
    optional = [text for extra in EXTRAS for text in project["optional-dependencies"][extra]]
    direct += python_packages(bom, optional, ComponentScope.OPTIONAL)
    bom.register_dependency(top, direct)
    # The serial number is derived from the contents, so that equal documents have equal numbers.
    bom.serial_number = uuid.UUID(int=0)
    bom.serial_number = uuid.uuid5(uuid.NAMESPACE_URL, JsonV1Dot6(bom).output_as_string())
    return str(JsonV1Dot6(bom).output_as_string(indent=2)) + "\n"


def main() -> int:
    """Write the document into the given folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    (folder / f"perhop-{version}.cdx.json").write_text(bill())
    return 0


if __name__ == "__main__":
    sys.exit(main())
