/** Addresses typed with commas or spaces between them, as the API takes them. */
export function addressesIn(text: string): readonly { readonly ip: string }[] {
  return text.split(/[\s,]+/).filter(Boolean).map((ip) => ({ ip }));
}
