/**
 * Returns whether the text is an e-mail address in the common subset of RFC 5321 §4.1.2: dot-atom, at sign, dotted
 * domain; at most 254 characters.
 */
export function isEmail(address: string): boolean {
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const pattern = new RegExp(`^(?=.{1,64}@)${atom}(?:\\.${atom})*@${label}(?:\\.${label})+$`);
  return address.length <= 254 && pattern.test(address);
}
