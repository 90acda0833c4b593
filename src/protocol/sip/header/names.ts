/** Header field names: one lower-case key per header, including compact forms (RFC 3261 §7.3.3 and the IANA registry). */

const COMPACT: Readonly<Record<string, string>> = {
  a: 'Accept-Contact',
  b: 'Referred-By',
  c: 'Content-Type',
  d: 'Request-Disposition',
  e: 'Content-Encoding',
  f: 'From',
  i: 'Call-ID',
  j: 'Reject-Contact',
  k: 'Supported',
  l: 'Content-Length',
  m: 'Contact',
  o: 'Event',
  r: 'Refer-To',
  s: 'Subject',
  t: 'To',
  u: 'Allow-Events',
  v: 'Via',
  x: 'Session-Expires',
  y: 'Identity',
};

const LONG_FORMS = [
  ...Object.values(COMPACT),
  ...['Accept', 'Accept-Encoding', 'Accept-Language', 'Alert-Info', 'Allow', 'Authorization'],
  ...[
    'Authentication-Info',
    'Content-Disposition',
    'Content-Language',
    'CSeq',
    'Date',
    'Diversion',
  ],
  ...['Error-Info', 'Expires', 'Geolocation', 'History-Info', 'In-Reply-To', 'Info-Package'],
  ...['Max-Forwards', 'MIME-Version', 'Min-Expires', 'Min-SE', 'Organization', 'Path'],
  ...[
    'P-Asserted-Identity',
    'P-Preferred-Identity',
    'P-Access-Network-Info',
    'Priority',
    'Privacy',
  ],
  ...[
    'Proxy-Authenticate',
    'Proxy-Authorization',
    'Proxy-Require',
    'RAck',
    'Reason',
    'Record-Route',
  ],
  ...['Recv-Info', 'Remote-Party-ID', 'Replaces', 'Reply-To', 'Require', 'Retry-After', 'Route'],
  ...['RSeq', 'Server', 'Service-Route', 'Session-ID', 'Subscription-State', 'Timestamp'],
  ...['Unsupported', 'User-Agent', 'Warning', 'WWW-Authenticate'],
];

/** A registered name and the key of its field. */
interface Registered {
  readonly key: string;
  /** Long form in its usual spelling. */
  readonly name: string;
}

const registered = new Map<string, Registered>();
for (const name of LONG_FORMS) {
  const key = name.toLowerCase();
  const one = { key, name };
  registered.set(name, one);
  registered.set(key, one);
}
for (const [letter, name] of Object.entries(COMPACT)) {
  const one = { key: name.toLowerCase(), name };
  registered.set(letter, one);
  registered.set(letter.toUpperCase(), one);
}

const lineStarts = new Map<string, string>(LONG_FORMS.map((name) => [name, `\r\n${name}: `]));

/** Text before the value of a header, including the preceding line break. */
export const lineStart = (name: string): string => lineStarts.get(name) ?? `\r\n${name}: `;

/** Key of a registered name in a usual spelling. */
export const knownHeaderKey = (name: string): string | undefined => registered.get(name)?.key;

/** Lookup key of a header, regardless of case and form: `v`, `VIA` and `Via` give `via`. */
export function headerKey(name: string): string {
  const known = registered.get(name);
  return known === undefined ? fieldNameOf(name).key : known.key;
}

/** Key of the name, and the spelling to write: the usual one if the name is registered. */
export function fieldNameOf(name: string): Registered {
  const known = registered.get(name);
  if (known !== undefined) return known;
  const key = name.toLowerCase();
  return registered.get(key) ?? { key, name };
}
