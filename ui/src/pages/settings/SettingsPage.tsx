export default function SettingsPage(_: { readonly id?: string; readonly tab?: string; readonly host?: string; readonly step?: string }) { return null; }
