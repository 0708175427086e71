"""Kernel Module Management: builds kernel modules in the cluster, for which the internal registry needs storage."""

from collections.abc import Mapping
from typing import Final

from firstlight.core.operators.accelerators import secure_boot_off
from firstlight.core.operators.objects import setup_job
from firstlight.core.operators.spec import Document, Group, OperatorSpec, Setting
from firstlight.core.versions.feature_ids import FeatureId

TITLE: Final = "Kernel Module Management"
NAMESPACE: Final = "openshift-kmm"

# Gives the internal registry a bucket of the cluster's object storage.
GIVE_REGISTRY_STORAGE: Final = r"""
space=openshift-image-registry
class=ocs-storagecluster-ceph-rgw
claim=registry
until oc get storageclass "$class"; do echo "Waiting for $class."; sleep 30; done
oc apply -f - <<.
apiVersion: objectbucket.io/v1alpha1
kind: ObjectBucketClaim
metadata: {name: $claim, namespace: $space}
spec: {generateBucketName: $claim, storageClassName: $class}
.
read_claim() { oc get objectbucketclaim -n "$space" "$claim" -o "jsonpath={$1}"; }
until [ "$(read_claim .status.phase)" = Bound ]; do echo "Waiting for the bucket."; sleep 30; done
bucket=$(read_claim .spec.bucketName)
host=$(oc get objectbucket "$(read_claim .spec.objectBucketName)" -o 'jsonpath={.spec.endpoint.bucketHost}')
read_secret() { oc get secret -n "$space" "$claim" -o "jsonpath={.data.$1}" | base64 -d; }
oc create secret generic image-registry-private-configuration-user -n "$space" --dry-run=client -o yaml \
  --from-literal=REGISTRY_STORAGE_S3_ACCESSKEY="$(read_secret AWS_ACCESS_KEY_ID)" \
  --from-literal=REGISTRY_STORAGE_S3_SECRETKEY="$(read_secret AWS_SECRET_ACCESS_KEY)" | oc apply -f -
authority=$(oc get configmap -n openshift-config openshift-service-ca.crt -o 'jsonpath={.data.service-ca\.crt}')
oc create configmap registry-ca -n openshift-config --dry-run=client -o yaml \
  --from-literal=ca-bundle.crt="$authority" | oc apply -f -
storage="{\"managementState\":\"Unmanaged\",\"s3\":{\"bucket\":\"$bucket\",\"region\":\"us-east-1\","
storage="$storage\"regionEndpoint\":\"https://$host\",\"virtualHostedStyle\":false,\"encrypt\":false,"
storage="$storage\"trustedCA\":{\"name\":\"registry-ca\"}}}"
oc patch configs.imageregistry.operator.openshift.io cluster --type=merge \
  --patch "{\"spec\":{\"managementState\":\"Managed\",\"disableRedirect\":true,\"replicas\":2,\"storage\":$storage}}"
"""

READ: Final = ["get", "list", "watch"]
WRITE: Final = [*READ, "create", "patch", "update"]


def extras(setting: Setting) -> Mapping[str, Document]:
    if "odf" not in setting.selected:
        # Without object storage there is nothing to give.
        return {}
    rules: list[Document] = [
        {"apiGroups": [""], "resources": ["configmaps", "secrets"], "verbs": WRITE},
        {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": READ},
        {"apiGroups": ["objectbucket.io"], "resources": ["objectbuckets"], "verbs": READ},
        {"apiGroups": ["objectbucket.io"], "resources": ["objectbucketclaims"], "verbs": WRITE},
        {"apiGroups": ["imageregistry.operator.openshift.io"], "resources": ["configs"], "verbs": WRITE},
    ]
    return setup_job(
        "kmm", namespace=NAMESPACE, image=setting.controller_image, script=GIVE_REGISTRY_STORAGE, rules=rules
    )


SPEC: Final = OperatorSpec(
    name="kmm",
    title=TITLE,
    feature=FeatureId.KMM,
    namespace=NAMESPACE,
    subscription="kernel-module-management",
    channel="stable",
    group=Group(name="openshift-kmm", own_namespace_only=False),
    host_rule=secure_boot_off(TITLE),
    extras=extras,
)
