"""The generated Python client, all its groups: what it sends is understood, what it gets passes its checks."""

import base64
import json
from urllib.request import urlopen

import pytest
import yaml
from assisted_service_client import models

from tests.clients.sdk import PULL_SECRET, SSH_KEY, VERSION, Sdk, downloaded, refusal

NEVER = "0001-01-01 00:00:00+00:00"
UNKNOWN = "00000000-0000-4000-8000-000000000001"
CUSTOM = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\n  namespace: default\n"


# --- groups without state ---------------------------------------------------------------------------------------------


def test_versions(sdk: Sdk) -> None:
    assert "assisted-installer-service" in sdk.versions.v2_list_component_versions().versions
    versions = sdk.versions.v2_list_supported_openshift_versions()
    assert len([name for name, version in versions.items() if version.get("default")]) == 1
    latest = sdk.versions.v2_list_supported_openshift_versions(only_latest=True)
    assert latest
    assert set(latest) <= set(versions)
    only = sdk.versions.v2_list_supported_openshift_versions(version=VERSION)
    assert only
    assert all(name.startswith(VERSION) for name in only)
    assert isinstance(sdk.versions.v2_list_release_sources(), list)


def test_a_path_that_only_the_client_knows_is_not_found(sdk: Sdk) -> None:
    assert refusal(sdk.versions.v2_list_supported_offline_openshift_versions)["code"] == 404


def test_operators(sdk: Sdk) -> None:
    names = sdk.operators.v2_list_supported_operators()
    assert {"lso", "odf", "cnv"} <= set(names)
    for name in names:
        assert all(item["name"] for item in sdk.operators.v2_list_operator_properties(name))
    bundles = sdk.operators.v2_list_bundles(openshift_version="4.20", cpu_architecture="x86_64", feature_ids=["SNO"])
    assert bundles
    for bundle in bundles:
        assert sdk.operators.v2_get_bundle(bundle.id).title == bundle.title


def test_support_levels(sdk: Sdk) -> None:
    levels = sdk.installer.get_supported_features(VERSION, cpu_architecture="x86_64").features
    detailed = sdk.installer.get_detailed_supported_features(VERSION, cpu_architecture="x86_64").features
    assert levels
    assert detailed
    assert "X86_64_ARCHITECTURE" in sdk.installer.get_supported_architectures(VERSION).architectures


def test_defaults_and_domains(sdk: Sdk) -> None:
    defaults = sdk.installer.v2_get_cluster_default_config()
    assert defaults.cluster_network_cidr == "10.128.0.0/14"
    assert list(sdk.domains.v2_list_managed_domains()) == []


# --- clusters ---------------------------------------------------------------------------------------------------------


def test_a_cluster_round_trips(sdk: Sdk) -> None:
    created = sdk.a_cluster(
        api_vips=[{"ip": "192.0.2.5"}],
        ingress_vips=[{"ip": "192.0.2.6"}],
        additional_ntp_source="ntp.example.com",
        olm_operators=[{"name": "lso"}],
        tags="one,two",
        disk_encryption={"enable_on": "all", "mode": "tpmv2"},
        hyperthreading="masters",
        platform={"type": "baremetal"},
        http_proxy="http://proxy.example.com:3128",
        no_proxy="example.com",
    )
    found = sdk.installer.v2_get_cluster(created.id)
    assert isinstance(found, models.Cluster)
    judged = ("connectivity_majority_groups", "status", "status_info", "status_updated_at", "updated_at")
    for name in set(models.Cluster.attribute_map) - {*judged, "validations_info"}:
        assert getattr(found, name) == getattr(created, name), name
    assert (found.api_vips[0].ip, found.tags, found.disk_encryption.enable_on) == ("192.0.2.5", "one,two", "all")
    assert (found.hyperthreading, found.http_proxy) == ("masters", "http://proxy.example.com:3128")
    assert {operator.name for operator in found.monitored_operators} == {"console", "lso"}
    assert str(found.install_completed_at) == NEVER
    (listed,) = [item for item in sdk.installer.v2_list_clusters() if item["id"] == created.id]
    assert (listed["name"], listed["base_dns_domain"], listed["api_vips"][0]["ip"]) == (
        created.name,
        "example.com",
        "192.0.2.5",
    )


def test_a_cluster_is_changed_and_given_up(sdk: Sdk) -> None:
    cluster = sdk.a_cluster()
    wish = models.V2ClusterUpdateParams(
        name="renamed",
        api_vips=[{"ip": "192.0.2.7"}],
        ingress_vips=[{"ip": "192.0.2.8"}],
        olm_operators=[{"name": "lvm"}],
        cluster_networks=[{"cidr": "10.132.0.0/14", "host_prefix": 24, "cluster_id": cluster.id}],
        service_networks=[{"cidr": "172.31.0.0/16", "cluster_id": cluster.id}],
        network_type="OVNKubernetes",
        schedulable_masters=True,
        pull_secret=PULL_SECRET,
        ssh_public_key=SSH_KEY,
    )
    changed = sdk.installer.v2_update_cluster(cluster.id, wish)
    found = sdk.installer.v2_get_cluster(cluster.id)
    for answer in (changed, found):
        assert (answer.name, answer.api_vips[0].ip, answer.schedulable_masters) == ("renamed", "192.0.2.7", True)
        assert (answer.cluster_networks[0].cidr, answer.cluster_networks[0].host_prefix) == ("10.132.0.0/14", 24)
        assert [operator.name for operator in answer.monitored_operators if operator.operator_type == "olm"] == ["lvm"]
    sdk.installer.v2_deregister_cluster(cluster.id)
    assert refusal(sdk.installer.v2_get_cluster, cluster.id)["id"] == 404
    gone = sdk.installer.v2_get_cluster(cluster.id, get_unregistered_clusters=True)
    assert str(gone.deleted_at) != NEVER


def test_a_wrong_wish_is_refused_with_the_documents_of_the_client(sdk: Sdk) -> None:
    decided = refusal(sdk.a_cluster, name="-wrong-")
    assert (decided["id"], decided["code"], decided["kind"], decided["href"]) == (400, "400", "Error", "")
    wish = models.V2ClusterUpdateParams()
    assert refusal(sdk.installer.v2_update_cluster, UNKNOWN, wish)["code"] == "404"
    malformed = refusal(sdk.installer.v2_get_cluster, "no-id")
    assert malformed == {"code": 400, "message": 'cluster_id in path must be of type uuid: "no-id"'}


def test_other_kinds_of_clusters(sdk: Sdk) -> None:
    day_two = sdk.installer.v2_import_cluster(
        models.ImportClusterParams(
            name="grows",
            openshift_cluster_id=UNKNOWN,
            api_vip_dnsname="api.grows.example.com",
            openshift_version=VERSION,
        )
    )
    assert (day_two.kind, day_two.status, day_two.imported) == ("AddHostsCluster", "adding-hosts", True)
    listed = sdk.installer.v2_list_clusters(openshift_cluster_id=UNKNOWN)
    assert [item["id"] for item in listed] == [day_two.id]
    apart = sdk.installer.v2_register_disconnected_cluster(
        models.DisconnectedClusterCreateParams(name="apart", openshift_version="4.20")
    )
    assert apart.kind == "DisconnectedCluster"


def test_the_documents_of_a_cluster(sdk: Sdk) -> None:
    cluster = sdk.a_cluster()
    settings = 'AI_UI:{"wizard":"networking"}'
    assert sdk.installer.v2_update_cluster_ui_settings(cluster.id, settings) == settings
    assert sdk.installer.v2_get_cluster_ui_settings(cluster.id) == settings
    ignored = models.IgnoredValidations(
        cluster_validation_ids=json.dumps(["all"]), host_validation_ids=json.dumps(["ntp-synced"])
    )
    sdk.installer.v2_set_ignored_validations(cluster.id, ignored)
    assert json.loads(sdk.installer.v2_get_ignored_validations(cluster.id).host_validation_ids) == ["ntp-synced"]
    sdk.installer.v2_update_cluster_install_config(cluster.id, json.dumps({"fips": True}))
    assert yaml.safe_load(sdk.installer.v2_get_cluster_install_config(cluster.id))["fips"] is True
    assert json.loads(sdk.installer.v2_get_cluster(cluster.id).install_config_overrides) == {"fips": True}
    assert sdk.installer.v2_get_preflight_requirements(cluster.id).ocp.master.quantitative.cpu_cores == 4
    assert "none" in sdk.installer.get_cluster_supported_platforms(cluster.id)
    operators = sdk.installer.v2_list_of_cluster_operators(cluster.id)
    assert [operator["name"] for operator in operators] == ["console"]
    assert sdk.operators.v2_list_of_cluster_operators(cluster.id, operator_name="console") == operators


# --- manifests and events ---------------------------------------------------------------------------------------------


def test_manifests(sdk: Sdk) -> None:
    cluster = sdk.a_cluster()
    content = base64.b64encode(CUSTOM.encode()).decode()
    made = sdk.manifests.v2_create_cluster_manifest(
        cluster.id, models.CreateManifestParams(folder="openshift", file_name="50-one.yaml", content=content)
    )
    assert (made.folder, made.file_name, made.manifest_source) == ("openshift", "50-one.yaml", "user")
    moved = sdk.manifests.v2_update_cluster_manifest(
        cluster.id,
        models.UpdateManifestParams(
            folder="openshift", file_name="50-one.yaml", updated_folder="manifests", updated_file_name="51-two.yaml"
        ),
    )
    assert (moved.folder, moved.file_name) == ("manifests", "51-two.yaml")
    (listed,) = sdk.manifests.v2_list_cluster_manifests(cluster.id)
    assert (listed["folder"], listed["file_name"]) == ("manifests", "51-two.yaml")
    stored = downloaded(sdk.manifests.v2_download_cluster_manifest, cluster.id, "51-two.yaml", folder="manifests")
    assert stored == ("51-two.yaml", CUSTOM.encode())
    sdk.manifests.v2_delete_cluster_manifest(cluster.id, "51-two.yaml")
    assert sdk.manifests.v2_list_cluster_manifests(cluster.id, include_system_generated=True) == []


def test_events(sdk: Sdk) -> None:
    cluster = sdk.a_cluster()
    listed = sdk.events.v2_list_events(cluster_id=cluster.id)
    assert "cluster_registration_succeeded" in [event["name"] for event in listed]
    sdk.events.v2_trigger_event(
        models.Event(
            name="test_event",
            cluster_id=cluster.id,
            severity="warning",
            category="user",
            message="Something was seen.",
            event_time="2026-01-01T00:00:00.000Z",
        )
    )
    newest = sdk.events.v2_list_events(
        cluster_id=cluster.id, severities=["warning", "error"], order="descending", limit=5, offset=0
    )
    assert "Something was seen." in [event["message"] for event in newest]
    for event in listed + newest:
        checked = models.Event(**{name: event.get(name) for name in models.Event.attribute_map})
        assert checked.message


# --- infra-envs -------------------------------------------------------------------------------------------------------


def test_an_infra_env_round_trips(sdk: Sdk) -> None:
    cluster = sdk.a_cluster()
    created = sdk.an_infra_env(
        cluster,
        image_type="minimal-iso",
        ssh_authorized_key=SSH_KEY,
        proxy={"http_proxy": "http://proxy.example.com:3128"},
        kernel_arguments=[models.KernelArgument(operation="append", value="rd.debug")],
        additional_ntp_sources="ntp.example.com",
        ignition_config_override=json.dumps({"ignition": {"version": "3.1.0"}}),
        static_network_config=[
            models.HostStaticNetworkConfig(
                network_yaml="interfaces:\n- name: eth0\n  type: ethernet\n  state: up\n",
                mac_interface_map=[{"mac_address": "52:54:00:00:00:01", "logical_nic_name": "eth0"}],
            )
        ],
    )
    found = sdk.installer.get_infra_env(created.id)
    assert found.to_dict() == created.to_dict()
    assert (found.type, found.cluster_id, found.proxy.http_proxy) == (
        "minimal-iso",
        cluster.id,
        "http://proxy.example.com:3128",
    )
    assert json.loads(found.static_network_config)[0]["mac_interface_map"][0]["logical_nic_name"] == "eth0"
    assert json.loads(found.kernel_arguments) == [{"operation": "append", "value": "rd.debug"}]
    listed = sdk.installer.list_infra_envs(cluster_id=cluster.id)
    assert [item["id"] for item in listed] == [created.id]
    changed = sdk.installer.update_infra_env(created.id, models.InfraEnvUpdateParams(image_type="full-iso"))
    assert changed.type == "full-iso"
    assert changed.updated_at > created.updated_at
    sdk.installer.regenerate_infra_env_signing_key(created.id)
    sdk.installer.deregister_infra_env(created.id)
    assert refusal(sdk.installer.get_infra_env, created.id)["id"] == 404


def test_what_machines_boot_with(sdk: Sdk) -> None:
    infra_env = sdk.an_infra_env(image_type="minimal-iso")
    image = sdk.installer.get_infra_env_download_url(infra_env.id)
    assert image.url.endswith(".iso")
    assert image.url == infra_env.download_url
    link = sdk.installer.get_infra_env_presigned_file_url(
        infra_env.id, "ipxe-script", ipxe_script_type="discovery-image-always"
    )
    with urlopen(link.url, timeout=60) as answer:
        assert answer.read().startswith(b"#!ipxe")
    name, content = downloaded(
        sdk.installer.v2_download_infra_env_files, infra_env.id, "discovery.ign", discovery_iso_type="full-iso"
    )
    assert name == "discovery.ign"
    assert json.loads(content)["ignition"]["version"].startswith("3.")
    assert not sdk.installer.download_minimal_initrd(infra_env.id)


# --- hosts ------------------------------------------------------------------------------------------------------------


def test_a_host_becomes_known_and_is_changed(sdk: Sdk) -> None:
    cluster = sdk.a_single_node()
    infra_env = sdk.an_infra_env(cluster)
    agent = sdk.a_host(infra_env)
    fresh = agent.host()
    assert (fresh.status, fresh.inventory, fresh.requested_hostname) == ("discovering", None, agent.id)
    known = agent.become("known")
    disk = json.loads(known.inventory)["disks"][1]
    changed = sdk.installer.v2_update_host(
        *agent.key,
        models.HostUpdateParams(
            host_name="control-0",
            host_role="master",
            disks_selected_config=[{"id": disk["path"], "role": "install"}],
            node_labels=[{"key": "example.com/zone", "value": "one"}],
        ),
    )
    assert (changed.requested_hostname, changed.role) == ("control-0", "master")
    assert changed.installation_disk_id == disk["id"]
    assert json.loads(changed.node_labels) == {"example.com/zone": "one"}
    arguments = models.InstallerArgsParams(args=["--append-karg", "quiet"])
    changed = sdk.installer.v2_update_host_installer_args(*agent.key, arguments)
    assert json.loads(changed.installer_args) == arguments.args
    override = json.dumps({"ignition": {"version": "3.1.0"}})
    sdk.installer.v2_update_host_ignition(*agent.key, models.HostIgnitionParams(config=override))
    assert json.loads(agent.host().ignition_config_overrides) == json.loads(override)
    assert refusal(sdk.installer.v2_get_host_ignition, *agent.key)["id"] == 409
    assert sdk.installer.v2_reset_host_validation(*agent.key, "container-images-available").id == agent.id
    assert refusal(sdk.installer.v2_reset_host_validation, *agent.key, "ntp-synced")["id"] == 400
    (listed,) = sdk.installer.v2_list_hosts(infra_env.id)
    assert (listed["requested_hostname"], listed["cluster_id"]) == ("control-0", cluster.id)
    (listed,) = sdk.installer.list_cluster_hosts(cluster.id, role="master", with_inventory=True)
    assert json.loads(listed["inventory"])["interfaces"]
    sdk.installer.v2_deregister_host(*agent.key)
    assert refusal(agent.host)["id"] == 404


def test_a_host_is_bound_and_released(sdk: Sdk) -> None:
    cluster = sdk.a_single_node()
    infra_env = sdk.an_infra_env()
    agent = sdk.a_host(infra_env)
    pooled = agent.become("known-unbound")
    assert pooled.cluster_id is None
    bound = sdk.installer.bind_host(*agent.key, models.BindHostParams(cluster_id=cluster.id))
    assert bound.cluster_id == cluster.id
    agent.become("known")
    released = sdk.installer.unbind_host(*agent.key)
    assert released.status in ("unbinding", "discovering-unbound", "disconnected-unbound")
    with pytest.raises(ValueError, match="cluster_id"):
        sdk.installer.bind_host(*agent.key, models.BindHostParams())
