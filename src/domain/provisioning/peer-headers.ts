import type { PeerPolicy } from './types.ts';

/** Header fields that the service manages. Policies cannot add them or pass them on. */
const RETAINED: ReadonlySet<string> = new Set([
  ...['via', 'from', 'to', 'call-id', 'cseq', 'contact', 'max-forwards', 'route', 'record-route'],
  ...['content-length', 'content-type', 'content-encoding', 'content-disposition', 'mime-version'],
  ...['authorization', 'proxy-authorization', 'www-authenticate', 'proxy-authenticate'],
  ...['require', 'proxy-require', 'supported', 'unsupported', 'allow', 'accept', 'path'],
  ...[
    'session-expires',
    'min-se',
    'expires',
    'rseq',
    'rack',
    'replaces',
    'refer-to',
    'referred-by',
  ],
  ...['p-asserted-identity', 'p-preferred-identity', 'remote-party-id', 'privacy', 'date'],
  ...['user-agent', 'server', 'event', 'subscription-state', 'service-route', 'timestamp'],
  ...['reason', 'warning', 'retry-after', 'in-reply-to', 'join', 'target-dialog'],
]);
const NAME = /^[A-Za-z0-9][A-Za-z0-9.!%*_+`'~-]{0,63}$/;
const NAMES_MAX = 50;
const VALUE_MAX = 512;

/** Returns whether the service manages the header field. */
export const isManaged = (name: string): boolean => RETAINED.has(name.toLowerCase());

type Named = Pick<PeerPolicy, 'passHeaders' | 'addHeaders' | 'removeHeaders'>;

/** Returns the first problem of a policy's header fields: the REST field and the reason. */
export function headerProblem(policy: Named): readonly [field: string, why: string] | undefined {
  const { passHeaders = [], addHeaders = {}, removeHeaders = [] } = policy;
  const lists: ReadonlyArray<readonly [string, readonly string[]]> = [
    ['pass_headers', passHeaders],
    ['add_headers', Object.keys(addHeaders)],
    ['remove_headers', removeHeaders],
  ];
  for (const [field, names] of lists) {
    if (names.length > NAMES_MAX) return [field, `holds more than ${NAMES_MAX} names`];
    const wrong = names.find((name) => !mayBeNamed(name, field !== 'add_headers'));
    if (wrong !== undefined)
      return [field, `holds ${wrong}, which is not a permitted header field name`];
  }
  const value = Object.values(addHeaders).find(
    (text) => text.length > VALUE_MAX || hasControl(text),
  );
  if (value === undefined) return undefined;
  return ['add_headers', `holds a value with line breaks or more than ${VALUE_MAX} characters`];
}

/** A trailing star, as in `X-*`, matches all names with that prefix. */
const mayBeNamed = (name: string, patterns: boolean): boolean =>
  NAME.test(name) &&
  !isManaged(name) &&
  (!name.includes('*') || (patterns && /^x-[^*]*\*$/i.test(name)));

const hasControl = (text: string): boolean =>
  [...text].some((char) => char < ' ' || char === '\u007f');
