/** The shape of RFC 5321 §4.1.2 addresses that people use: dot-atom, at, a dotted domain; 254 characters at most. */
export function isEmail(address: string): boolean {
  const atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
  const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
  const pattern = new RegExp(`^(?=.{1,64}@)${atom}(?:\\.${atom})*@${label}(?:\\.${label})+$`);
  return address.length <= 254 && pattern.test(address);
}
