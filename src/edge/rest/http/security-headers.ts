/** Security headers of every response, including errors (OWASP secure headers; RFC 6797 for HSTS). */

const YEAR_S = 31_536_000;

/** Content security policy of the API page: scripts and requests of this origin only, inline styles for Swagger UI. */
export const API_PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Content security policy of pages with a phone: scripts and sockets of this origin, audio from any source. */
export const PHONE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Hashes of the two style attributes in the XML editor's markup (prism-code-editor: cursor and tooltip). */
const EDITOR_STYLES =
  "'sha256-gNsxyalTKRVCpf/0cDoQCyQ9bDyY80QXPSMyunsa83g=' 'sha256-mRR4c+vDOEtMiEaShMeuXk+GaaagHKMSgslWqk4/sEQ='";

/**
 * Content security policy of the console: this origin only, no inline scripts, no inline styles except those of the XML editor,
 * audio of the phone and of recordings.
 */
export const consolePolicy = (nonce: string): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; style-src-attr 'unsafe-hashes' ${EDITOR_STYLES}; img-src 'self' data:; connect-src 'self'; media-src 'self' blob: mediastream:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function securityHeaders(isEncrypted: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    // Responses contain balances and tokens, so caches must not store them.
    'cache-control': 'no-store',
    ...(isEncrypted && { 'strict-transport-security': `max-age=${YEAR_S}` }),
  };
}
