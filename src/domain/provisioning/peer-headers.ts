import type { PeerPolicy } from './types.ts';

/** What every message needs, or what is told by settings of its own: nobody adds these, or hands them on. */
const KEPT: ReadonlySet<string> = new Set([
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

/** What is handed on, or added, by nobody's choice. */
export const isManaged = (name: string): boolean => KEPT.has(name.toLowerCase());

type Named = Pick<PeerPolicy, 'passHeaders' | 'addHeaders' | 'removeHeaders'>;

/** What is wrong with the header fields of a policy: the field as REST names it, and why. */
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
    if (wrong !== undefined) return [field, `holds ${wrong}, no header field that can be chosen`];
  }
  const value = Object.values(addHeaders).find(
    (text) => text.length > VALUE_MAX || hasControl(text),
  );
  if (value === undefined) return undefined;
  return ['add_headers', `holds a value that is no line of up to ${VALUE_MAX} characters`];
}

/** `X-*`, where a star may end it, are all names that begin so. */
const mayBeNamed = (name: string, patterns: boolean): boolean =>
  NAME.test(name) &&
  !isManaged(name) &&
  (!name.includes('*') || (patterns && /^x-[^*]*\*$/i.test(name)));

const hasControl = (text: string): boolean =>
  [...text].some((char) => char < ' ' || char === '\u007f');
