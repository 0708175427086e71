// What is wrong with what was typed, in a sentence; empty when it is fine. The service has the last word.

const LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

export function wrongName(name: string): string {
  if (name === "") return "";
  if (name.length > 54) return "Use 54 characters at most.";
  if (!/^[a-z0-9-]*$/.test(name)) return "Use lower-case letters, digits and dashes.";
  return LABEL.test(name) ? "" : "Begin and end with a letter or digit.";
}

export function wrongDomain(domain: string): string {
  if (domain === "") return "";
  const labels = domain.split(".");
  const fine = labels.every((label) => label.length <= 63 && LABEL.test(label));
  return fine && labels.length > 1 ? "" : "Use a DNS domain such as example.com.";
}

export function wrongPullSecret(text: string): string {
  if (text.trim() === "") return "";
  try {
    const parsed = JSON.parse(text) as { auths?: unknown };
    return parsed !== null && typeof parsed === "object" && parsed.auths ? "" : "It has no “auths”. Copy the whole text.";
  } catch {
    return "It is not JSON. Copy the whole text, from the first to the last brace.";
  }
}
