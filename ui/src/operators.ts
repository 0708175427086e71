// The names people know operators by.
import { spoken } from "./words";

const TITLES: Readonly<Record<string, string>> = {
  "amd-gpu": "AMD GPU",
  authorino: "Authorino",
  "cluster-observability": "Cluster Observability",
  cnv: "OpenShift Virtualization",
  console: "Console",
  cvo: "Cluster version",
  "fence-agents-remediation": "Fence Agents Remediation",
  kmm: "Kernel Module Management",
  "kube-descheduler": "Kube Descheduler",
  loki: "Loki",
  lso: "Local Storage",
  lvm: "Logical Volume Manager Storage",
  mce: "Multicluster engine",
  metallb: "MetalLB",
  mtv: "Migration Toolkit for Virtualization",
  nmstate: "Kubernetes NMState",
  "node-feature-discovery": "Node Feature Discovery",
  "node-healthcheck": "Node Health Check",
  "node-maintenance": "Node Maintenance",
  numaresources: "NUMA Resources",
  "nvidia-gpu": "NVIDIA GPU",
  oadp: "OpenShift API for Data Protection",
  odf: "OpenShift Data Foundation",
  "openshift-ai": "OpenShift AI",
  "openshift-logging": "OpenShift Logging",
  osc: "OpenShift sandboxed containers",
  pipelines: "OpenShift Pipelines",
  "self-node-remediation": "Self Node Remediation",
  serverless: "OpenShift Serverless",
  servicemesh: "OpenShift Service Mesh",
};

export const operatorTitle = (name: string): string => TITLES[name] ?? spoken(name);
