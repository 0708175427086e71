"""Where things are kept, and for how long."""

from datetime import timedelta
from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr

from firstlight.server.setting_groups.group import SettingGroup, also
from firstlight.server.setting_types import Duration


def default_data_dir() -> Path:
    return Path("~/.local/share/firstlight").expanduser()


class StorageSettings(SettingGroup):
    data_dir: Path = Field(
        default_factory=default_data_dir, validation_alias=AliasChoices("FIRSTLIGHT_DATA_DIR", "WORK_DIR")
    )
    """Where the embedded database and files live."""
    database_url: SecretStr | None = None
    """PostgreSQL URL; unset means the SQLite file in the data directory."""
    blobs_url: str | None = None
    """`s3://bucket?endpoint=…&region=…` or a folder; unset means a folder in the data directory."""
    encryption_key: SecretStr | None = None
    """What secrets in database and files are encrypted with: 32 bytes as base64 or hexadecimal digits. Several, with
    spaces between: the first encrypts, the others open what is older. Replicas need the same."""
    encryption_key_file: Path | None = None
    """A file with such keys instead; unset means `encryption-key` in the data directory, made at the first start."""
    aws_access_key_id: SecretStr | None = also("AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID", default=None)
    """Key id for the bucket; unset means the surroundings are asked (profile, instance role)."""
    aws_secret_access_key: SecretStr | None = also("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", default=None)
    """The secret that belongs to it."""

    # The original's way of naming database and object store.
    db_host: str = also("DB_HOST", "DB_HOST", default="")
    """Host of a PostgreSQL server; used with the four below when `database_url` is unset."""
    db_port: int = also("DB_PORT", "DB_PORT", default=5432)
    """Its port."""
    db_user: str = also("DB_USER", "DB_USER", default="")
    """Its user."""
    db_pass: SecretStr = also("DB_PASS", "DB_PASS", default=SecretStr(""))
    """The user's password."""
    db_name: str = also("DB_NAME", "DB_NAME", default="")
    """The database."""
    s3_endpoint_url: str = also("S3_ENDPOINT_URL", "S3_ENDPOINT_URL", default="")
    """Address of an S3 server; used with the two below when `blobs_url` is unset."""
    s3_region: str = also("S3_REGION", "S3_REGION", default="")
    """Its region."""
    s3_bucket: str = also("S3_BUCKET", "S3_BUCKET", default="")
    """The bucket; empty means no S3."""

    deleted_inactive_after: Duration = also(
        "DELETED_INACTIVE_AFTER", "DELETED_INACTIVE_AFTER", default=timedelta(hours=480)
    )
    """Clusters in which nothing happened for this long are given up."""
    deleted_unregistered_after: Duration = also(
        "DELETED_UNREGISTERED_AFTER", "DELETED_UNREGISTERED_AFTER", default=timedelta(hours=72)
    )
    """What was given up goes for good after this long."""
    infraenv_deleted_inactive_after: Duration = also(
        "INFRAENV_DELETED_INACTIVE_AFTER", "INFRAENV_DELETED_INACTIVE_AFTER", default=timedelta(hours=480)
    )
    """The same as for clusters, for infra-envs without hosts."""
    deregister_inactive: bool = also("DEREGISTER_INACTIVE", "ENABLE_DEREGISTER_INACTIVE_GC", default=True)
    """Give up what is inactive."""
    purge_deleted: bool = also("PURGE_DELETED", "ENABLE_DELETE_UNREGISTER_GC", default=True)
    """Remove for good what was given up."""
