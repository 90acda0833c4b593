/** What every answer tells a browser, errors included (OWASP secure headers; RFC 6797 for HSTS). */

const YEAR_S = 31_536_000;

/** Policy of the API page: scripts of this origin, inline styles of Swagger UI, requests to this origin only. */
export const API_PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A page with a phone in it: scripts and sockets of ours, sound of whoever it talks to. */
export const PHONE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The console: nothing of anybody else, no script or style inside of its page; the phone's sound, and recordings as they play. */
export const consolePolicy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; connect-src 'self'; media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function securityHeaders(isEncrypted: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    // Answers hold balances and tokens: no cache may keep them.
    'cache-control': 'no-store',
    ...(isEncrypted && { 'strict-transport-security': `max-age=${YEAR_S}` }),
  };
}
