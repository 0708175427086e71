export default function InfraEnvPage(_: { readonly id?: string; readonly tab?: string; readonly host?: string; readonly step?: string }) { return null; }
