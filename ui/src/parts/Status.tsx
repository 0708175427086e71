// A state is an icon and a word, never a colour alone.
import { Label, Spinner } from "@patternfly/react-core";
import BanIcon from "@patternfly/react-icons/dist/esm/icons/ban-icon";
import CheckCircleIcon from "@patternfly/react-icons/dist/esm/icons/check-circle-icon";
import ExclamationCircleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-circle-icon";
import ExclamationTriangleIcon from "@patternfly/react-icons/dist/esm/icons/exclamation-triangle-icon";
import InfoCircleIcon from "@patternfly/react-icons/dist/esm/icons/info-circle-icon";
import PencilAltIcon from "@patternfly/react-icons/dist/esm/icons/pencil-alt-icon";
import type { ReactElement } from "react";
import { clusterStatus, hostStatus, type Tone, type Word } from "../words";

const ICONS: Readonly<Record<Tone, () => ReactElement>> = {
  success: () => <CheckCircleIcon className="fl-tone-success" />,
  info: () => <InfoCircleIcon className="fl-tone-info" />,
  warning: () => <ExclamationTriangleIcon className="fl-tone-warning" />,
  danger: () => <ExclamationCircleIcon className="fl-tone-danger" />,
  progress: () => <Spinner size="md" aria-hidden="true" className="fl-inline-spinner" />,
  neutral: () => <BanIcon className="fl-tone-neutral" />,
};

export function ToneIcon({ tone }: { readonly tone: Tone }) {
  return ICONS[tone]();
}

export function State({ word, detail }: { readonly word: Word; readonly detail?: string }) {
  return (
    <span className="fl-state" title={detail ?? ""}>
      {word.text === "Draft" ? <PencilAltIcon className="fl-tone-neutral" /> : <ToneIcon tone={word.tone} />}
      <span>{word.text}</span>
    </span>
  );
}

export function ClusterState({ status, info }: { readonly status: string; readonly info?: string }) {
  return <State word={clusterStatus(status)} {...(info ? { detail: info } : {})} />;
}

export function HostState({ status, info }: { readonly status: string; readonly info?: string }) {
  return <State word={hostStatus(status)} {...(info ? { detail: info } : {})} />;
}

const COLORS = {
  success: "green",
  info: "blue",
  warning: "orange",
  danger: "red",
  progress: "blue",
  neutral: "grey",
} as const;

export function ToneLabel({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  return (
    <Label isCompact color={COLORS[tone]} icon={<ToneIcon tone={tone} />}>
      {children}
    </Label>
  );
}
