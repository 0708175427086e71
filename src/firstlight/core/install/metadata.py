"""metadata.json: what openshift-install would need to find its cluster again."""

from firstlight.core.install.cluster_inputs import ClusterInputs
from firstlight.core.install.documents import Document, to_text
from firstlight.core.install.identity import Identity
from firstlight.core.model.cluster_status import PlatformType


def render_metadata(cluster: ClusterInputs, identity: Identity, *, feature_set: str = "") -> str:
    document: Document = {
        "clusterName": cluster.name,
        "clusterID": str(identity.cluster_id),
        "infraID": identity.infra_id,
        "featureSet": feature_set,
        "customFeatureSet": None,
    }
    match cluster.platform:
        case PlatformType.BAREMETAL:
            document["baremetal"] = {"libvirtURI": "", "bootstrapProvisioningIP": "", "provisioningHostIP": ""}
        case PlatformType.VSPHERE:
            document["vsphere"] = {"VCenters": [{"vCenter": "vcenterplaceholder", "username": "usernameplaceholder"}]}
        case PlatformType.NUTANIX:
            document["nutanix"] = {"prismCentral": "prismcentralplaceholder", "username": "usernameplaceholder"}
        case _:
            pass
    return to_text(document)
