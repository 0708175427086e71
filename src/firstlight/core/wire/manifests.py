"""Custom manifests."""

from firstlight.core.wire.shape import Answer, Body, ManifestFileName
from firstlight.core.wire.words import ManifestFolder


class Manifest(Answer, frozen=True, kw_only=True):
    """A manifest by name."""

    folder: str = ""
    file_name: str = ""
    manifest_source: str = ""


class CreateManifestParams(Body, frozen=True, kw_only=True):
    """A manifest to be stored; the content is base64."""

    file_name: ManifestFileName
    content: str
    folder: ManifestFolder | None = None


class UpdateManifestParams(Body, frozen=True, kw_only=True):
    """A change of name, folder or content."""

    folder: ManifestFolder
    file_name: ManifestFileName
    updated_folder: ManifestFolder | None = None
    updated_file_name: ManifestFileName | None = None
    updated_content: str | None = None
