// The documents of the API as far as the pages read them. Names are the wire's.

export interface Vip {
  readonly ip: string;
}

export interface ClusterProgress {
  readonly total_percentage?: number;
  readonly preparing_for_installation_stage_percentage?: number;
  readonly installing_stage_percentage?: number;
  readonly finalizing_stage_percentage?: number;
  readonly finalizing_stage?: string;
  readonly finalizing_stage_timed_out?: boolean;
}

export interface MonitoredOperator {
  readonly name: string;
  readonly operator_type: string;
  readonly version?: string;
  readonly status?: string;
  readonly status_info?: string;
  readonly dependency_only?: boolean;
}

export interface HostNetwork {
  readonly cidr: string;
  readonly host_ids: readonly string[];
}

export interface Cluster {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly status_info: string;
  readonly status_updated_at: string;
  readonly openshift_version?: string;
  readonly base_dns_domain?: string;
  readonly cpu_architecture?: string;
  readonly control_plane_count?: number;
  readonly high_availability_mode?: string;
  readonly created_at: string;
  readonly install_started_at: string;
  readonly install_completed_at: string;
  readonly total_host_count?: number;
  readonly ready_host_count?: number;
  readonly progress?: ClusterProgress;
  readonly api_vips?: readonly Vip[] | null;
  readonly ingress_vips?: readonly Vip[] | null;
  readonly machine_networks?: readonly { readonly cidr: string }[] | null;
  readonly cluster_networks?: readonly { readonly cidr: string; readonly host_prefix: number }[] | null;
  readonly service_networks?: readonly { readonly cidr: string }[] | null;
  readonly host_networks?: readonly HostNetwork[] | null;
  readonly network_type?: string;
  readonly user_managed_networking?: boolean;
  readonly vip_dhcp_allocation?: boolean;
  readonly platform?: { readonly type?: string };
  readonly ssh_public_key?: string;
  readonly additional_ntp_source?: string;
  readonly monitored_operators?: readonly MonitoredOperator[] | null;
  readonly ignored_host_validations?: string;
  readonly ignored_cluster_validations?: string;
  readonly logs_info?: string;
  readonly controller_logs_collected_at?: string;
  readonly openshift_cluster_id?: string;
  readonly user_name?: string;
  readonly schedulable_masters?: boolean;
}

export interface InfraEnv {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly cluster_id?: string;
  readonly openshift_version?: string;
  readonly cpu_architecture?: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
  readonly download_url?: string;
  readonly size_bytes?: number;
  readonly ssh_authorized_key?: string;
  readonly additional_ntp_sources?: string;
  readonly static_network_config?: string;
  readonly proxy?: { readonly http_proxy?: string; readonly https_proxy?: string; readonly no_proxy?: string };
}

export interface HostProgress {
  readonly current_stage?: string;
  readonly progress_info?: string;
  readonly installation_percentage?: number;
  readonly stage_started_at?: string;
  readonly stage_updated_at?: string;
  readonly stage_timed_out?: boolean;
}

export interface Host {
  readonly id: string;
  readonly infra_env_id: string;
  readonly cluster_id?: string;
  readonly kind: string;
  readonly status: string;
  readonly status_info: string;
  readonly status_updated_at: string;
  readonly requested_hostname?: string;
  readonly role?: string;
  readonly suggested_role?: string;
  readonly bootstrap?: boolean;
  readonly progress?: HostProgress;
  readonly progress_stages?: readonly string[] | null;
  readonly inventory?: string;
  readonly installation_disk_id?: string;
  readonly installation_disk_path?: string;
  readonly skip_formatting_disks?: string;
  readonly disks_to_be_formatted?: string;
  readonly node_labels?: string;
  readonly checked_in_at: string;
  readonly registered_at: string;
  readonly created_at: string;
  readonly logs_collected_at: string;
  readonly discovery_agent_version?: string;
  readonly ntp_sources?: string;
}

export interface Disk {
  readonly id: string;
  readonly name?: string;
  readonly path?: string;
  readonly drive_type?: string;
  readonly size_bytes?: number;
  readonly model?: string;
  readonly vendor?: string;
  readonly serial?: string;
  readonly wwn?: string;
  readonly removable?: boolean;
  readonly is_installation_media?: boolean;
  readonly installation_eligibility?: {
    readonly eligible?: boolean;
    readonly not_eligible_reasons?: readonly string[] | null;
  };
}

export interface Interface {
  readonly name?: string;
  readonly mac_address?: string;
  readonly ipv4_addresses?: readonly string[] | null;
  readonly ipv6_addresses?: readonly string[] | null;
  readonly mtu?: number;
  readonly speed_mbps?: number;
  readonly has_carrier?: boolean;
  readonly vendor?: string;
  readonly product?: string;
  readonly type?: string;
}

export interface Inventory {
  readonly hostname?: string;
  readonly bmc_address?: string;
  readonly boot?: { readonly current_boot_mode?: string; readonly pxe_interface?: string };
  readonly cpu?: {
    readonly count?: number;
    readonly architecture?: string;
    readonly model_name?: string;
    readonly frequency?: number;
  };
  readonly memory?: { readonly physical_bytes?: number; readonly usable_bytes?: number };
  readonly disks?: readonly Disk[] | null;
  readonly interfaces?: readonly Interface[] | null;
  readonly gpus?: readonly { readonly vendor?: string; readonly name?: string; readonly address?: string }[] | null;
  readonly system_vendor?: {
    readonly manufacturer?: string;
    readonly product_name?: string;
    readonly serial_number?: string;
    readonly virtual?: boolean;
  };
  readonly tpm_version?: string;
}

export interface ListedEvent {
  readonly event_time: string;
  readonly name: string;
  readonly severity: string;
  readonly message: string;
  readonly category?: string;
  readonly cluster_id?: string;
  readonly host_id?: string;
  readonly infra_env_id?: string;
  readonly request_id?: string;
  readonly props?: string;
}

export interface OpenshiftVersion {
  readonly display_name: string;
  readonly support_level: string;
  readonly cpu_architectures: readonly string[];
  readonly default?: boolean;
}

export interface Bundle {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly operators: readonly string[];
}

export interface Credentials {
  readonly username?: string;
  readonly password?: string;
  readonly console_url?: string;
}

export interface Manifest {
  readonly folder: string;
  readonly file_name: string;
  readonly manifest_source?: string;
}
