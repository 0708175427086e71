"""What happens to infra-envs and their discovery images."""

from dataclasses import dataclass

from firstlight.core.events.event import InfraEnvEvent, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class InfraEnvRegistrationFailed(InfraEnvEvent):
    name = "infra_env_registration_failed"
    level = Severity.ERROR
    template = "The infra-env could not be registered: {error}"

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InfraEnvRegistered(InfraEnvEvent):
    name = "infra_env_registered"
    level = Severity.INFO
    template = "The infra-env was registered"


@dataclass(frozen=True, slots=True, kw_only=True)
class InfraEnvDeregisterFailed(InfraEnvEvent):
    name = "infra_env_deregister_failed"
    level = Severity.ERROR
    template = "The infra-env could not be deregistered: {error}"

    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InfraEnvDeregistered(InfraEnvEvent):
    name = "infra_env_deregistered"
    level = Severity.INFO
    template = "The infra-env was deregistered"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFetchFailed(InfraEnvEvent):
    name = "generate_image_fetch_failed"
    level = Severity.ERROR
    template = "The discovery image could not be made: the infra-env could not be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExistingImageReused(InfraEnvEvent):
    name = "existing_image_reused"
    level = Severity.INFO
    template = "The existing discovery image of type {image_type} is used again"

    image_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFormatFailed(InfraEnvEvent):
    name = "generate_image_format_failed"
    level = Severity.ERROR
    template = "The discovery image could not be made: its ignition config could not be written"


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalIsoFailed(InfraEnvEvent):
    name = "generate_minimal_iso_failed"
    level = Severity.ERROR
    template = "The minimal discovery image could not be made"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageUploadFailed(InfraEnvEvent):
    name = "upload_image_failed"
    level = Severity.ERROR
    template = "The discovery image could not be uploaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageGenerated(InfraEnvEvent):
    name = "ignition_config_image_generated"
    level = Severity.INFO
    template = "A discovery image was made ({details})"

    details: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInfoUpdated(InfraEnvEvent):
    name = "image_info_updated"
    level = Severity.INFO
    template = "The discovery image has new settings ({details})"

    details: str
