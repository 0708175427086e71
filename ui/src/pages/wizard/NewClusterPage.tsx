export default function NewClusterPage(_: { readonly id?: string; readonly tab?: string; readonly host?: string; readonly step?: string }) { return null; }
