/**
 * Builds the options of one WebSocket connection from a customer's URL: address check, signature, headers (dialect
 * §1.3, §1.4).
 */

import type { EgressGuard } from '../../base/egress.ts';
import type { AccountId } from '../../base/ids.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { StreamSocketOptions } from '../../domain/call/needs.ts';

export interface UpgradeNeeds {
  readonly egress: EgressGuard;
  /** Signature headers over the configured URL with the account's token. */
  signUpgrade(url: string, accountId: AccountId): Promise<Readonly<Record<string, string>>>;
  readonly userAgent: string;
}

export interface Upgrade {
  /** URL without user, password and fragment. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Valid names and values of headers that are copied to the upgrade request (RFC 9110 §5.6.2 and §5.5). */
const HEADER_NAME = /^[A-Za-z0-9_.-]+$/;
const HEADER_VALUE = /^[\x20-\x7e]*$/;
const COPY_PREFIXES = ['X-PH-', 'X-VH-'] as const;

export async function prepareUpgrade(
  options: StreamSocketOptions,
  needs: UpgradeNeeds,
): Promise<Result<Upgrade, string>> {
  const url = URL.canParse(options.url) ? new URL(options.url) : undefined;
  if (url === undefined) return err('the stream URL cannot be parsed');
  if (url.protocol !== 'wss:' && url.protocol !== 'ws:') {
    return err(`the stream URL must start with wss:// or ws://, not with ${url.protocol}//`);
  }
  if (url.port === '0') return err('the stream URL must not have port 0');
  const refusal = needs.egress.refuses(url);
  if (refusal !== undefined) return err(`the address is refused: ${refusal}`);
  const authorization = basicAuthorization(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  return ok({
    url,
    headers: {
      ...copiedHeaders(options.extraHeaders),
      ...(await needs.signUpgrade(options.url, options.accountId)),
      ...authorization,
      'User-Agent': needs.userAgent,
    },
  });
}

function basicAuthorization(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const plain = `${decoded(url.username)}:${decoded(url.password)}`;
  return { Authorization: `Basic ${Buffer.from(plain, 'utf8').toString('base64')}` };
}

/** Decodes percent escapes; an invalid escape is kept. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function copiedHeaders(headers: StreamSocketOptions['extraHeaders']): Record<string, string> {
  const copies: Record<string, string> = {};
  for (const [name, value] of headers) {
    if (!HEADER_NAME.test(name) || !HEADER_VALUE.test(value)) continue;
    for (const prefix of COPY_PREFIXES) copies[prefix + name] = value;
  }
  return copies;
}
