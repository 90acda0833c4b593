/** Forms of text settings. The checks read no file and send no DNS query. */
import { isIP, isIPv6 } from 'node:net';
import { unbracketed } from '../../base/host.ts';
import type { Form } from './kinds.ts';

const HOST_LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;
const MAX_HOST_LENGTH = 253;
const MAX_PORT = 65_535;
/** Named address ranges that the proxy check of the HTTP server supports. */
const NAMED_RANGES: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

const isAddress = (text: string): boolean => isIP(text) !== 0;

/** A name whose last label is a number is a mistyped IPv4 address (RFC 3696 §2), not a host name. */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  const isNumber = /^\d+$/.test(labels.at(-1) ?? '');
  return (
    text.length <= MAX_HOST_LENGTH && !isNumber && labels.every((label) => HOST_LABEL.test(label))
  );
}

const isHost = (text: string): boolean => isAddress(text) || isHostName(text);

const isUnspecified = (text: string): boolean => /^(?:0+(?:\.0+){3}|[0:]+)$/.test(text);

/** Brackets are allowed. A mapped IPv4 address is not IPv6, and a zone is known to this machine only. */
function isPublicIpv6(text: string): boolean {
  const bare = unbracketed(text);
  const isNative = isIPv6(bare) && !/^::ffff:/i.test(bare) && !bare.includes('%');
  return isNative && !isUnspecified(bare);
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
}

/** Checks `host`, `host:port`, `[IPv6]` or `[IPv6]:port`. */
function isPlace(text: string, isHostPart: (host: string) => boolean): boolean {
  const [, v6, host, port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const fits = v6 === undefined ? isHostPart(host ?? '') : isIP(v6) === 6;
  return fits && (port === undefined || (Number(port) > 0 && Number(port) <= MAX_PORT));
}

const isTokenName = (text: string): boolean => /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(text);

const beforeEquals = (text: string): string => text.split('=', 1)[0] ?? '';

/** Form of a URL with one of these schemes and a host. */
export const url = (...schemes: readonly string[]): Form => ({
  expected: `a URL ${schemes.map((scheme) => `${scheme}://…`).join(' or ')}`,
  fits: (text) => {
    const read = /\s/.test(text) ? null : URL.parse(text);
    return read !== null && schemes.includes(read.protocol.slice(0, -1)) && read.hostname !== '';
  },
});

const HOST_PORT = /(?:\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?/.source;
const SENTINEL_URL = new RegExp(
  `^rediss?\\+sentinel://(?:[^:@/\\s]*(?::[^@/\\s]*)?@)?${HOST_PORT}(?:,${HOST_PORT})*/[\\w.-]+$`,
  'i',
);

/** Form of the URL of a Redis server, or of the Sentinels that name it. */
export const REDIS_URL: Form = {
  expected: 'a URL redis://… or rediss://… or redis+sentinel://host:port,…/name',
  fits: (text) => SENTINEL_URL.test(text) || url('redis', 'rediss').fits(text),
};

/** Form of a URL that serves as a prefix of other URLs. */
export const BASE_URL: Form = {
  expected: 'a URL http://… or https://… without query and fragment',
  fits: (text) =>
    url('http', 'https').fits(text) && URL.parse(text)?.search === '' && !text.includes('#'),
};

/** Form of a libpq URL. Unlike other URLs, it may name several hosts, or a socket folder as a parameter. */
export const POSTGRES_URL: Form = {
  expected: 'a URL postgres://…',
  fits: (text) => /^postgres(?:ql)?:\/\/\S+$/.test(text),
};

export const ADDRESS: Form = { expected: 'an IP address', fits: isAddress };
export const HOST: Form = { expected: 'an IP address or a host name', fits: isHost };
export const PUBLIC_HOST: Form = {
  expected: 'an IP address or a host name that peers can reach',
  fits: (text) => isHost(text) && !isUnspecified(text),
};
export const PUBLIC_ADDRESS6: Form = {
  expected: 'an IPv6 address that peers can reach',
  fits: isPublicIpv6,
};
export const PUBLIC_HOST6: Form = {
  expected: 'an IPv6 address, or a host name with one, that peers can reach',
  fits: (text) => isPublicIpv6(text) || isHostName(text),
};
export const RANGE: Form = {
  expected: 'an IP address or a CIDR range',
  fits: isRange,
};
export const PROXY_RANGE: Form = {
  expected: RANGE.expected,
  fits: (text) => isRange(text) || NAMED_RANGES.has(text),
};
export const EDGE_PLACE: Form = {
  expected: 'addresses, as 10.0.0.5 or 10.0.0.5:5070',
  fits: (text) => isPlace(text, isAddress),
};
export const HOST_PLACE: Form = {
  expected: 'a host, as host or host:port',
  fits: (text) => isPlace(text, isHost),
};
/** Form of an entry of `egress.allow`: address, range, host name, or all names below a domain. */
export const DESTINATION: Form = {
  expected: 'a host name, *.domain, an IP address or a CIDR range',
  fits: (text) => isRange(unbracketed(text)) || isHostName(text.replace(/^\*\./, '')),
};
export const ORIGIN: Form = {
  expected: 'an origin, as https://phone.example.com',
  fits: (text) => text === 'null' || URL.parse(text)?.origin === text.toLowerCase(),
};
export const HEADER_NAME: Form = { expected: 'the name of a header field', fits: isTokenName };
export const HEADER_FIELD: Form = {
  expected: 'Name=value',
  fits: (text) => text.includes('=') && isTokenName(beforeEquals(text).trim()),
  sameAs: beforeEquals,
};
export const PAIR: Form = {
  expected: 'name=value',
  fits: (text) => /^[^=]+=.+$/.test(text),
  sameAs: beforeEquals,
};
export const DIALLED: Form = {
  expected: 'a number as dialled',
  fits: (text) => /^\+?[\d*#]+$/.test(text),
};

const MAIL_ADDRESS = /^(?:[^<>@,\s]+@[^<>@,\s]+|[^<>]*<[^<>@,\s]+@[^<>@,\s]+>)$/;
export const MAIL: Form = {
  expected: 'a mail address',
  fits: (text) => MAIL_ADDRESS.test(text.trim()),
};
export const MAILS: Form = {
  expected: 'mail addresses with commas between them',
  fits: (text) => text.split(',').every(MAIL.fits),
};
export const CURRENCY: Form = {
  expected: 'a currency of ISO 4217, as USD',
  fits: (text) => Intl.supportedValuesOf('currency').includes(text),
};
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
export const COUNTRY: Form = {
  expected: 'a country of ISO 3166-1, as US',
  fits: (text) => /^[A-Z]{2}$/.test(text) && regions.of(text) !== undefined,
};
export const LANGUAGE: Form = {
  expected: 'a language tag, as en-US',
  fits: (text) => /^[a-z]{2,3}(?:-[a-z0-9]{2,8})*$/i.test(text),
};
export const NODE_ID: Form = {
  expected: 'letters, digits, dots, dashes and underscores, at most 64',
  fits: (text) => /^[\w.-]{1,64}$/.test(text),
};
export const BUCKET: Form = {
  expected: 'the name of a bucket',
  fits: (text) => /^[a-z0-9][\w.-]{1,61}[a-z0-9]$/i.test(text),
};
export const KEY_PREFIX: Form = {
  expected: 'a prefix without slashes at its ends',
  fits: (text) => !/^\/|\/$/.test(text),
};
/** Form of a text that may have several lines. */
export const LINES: Form = { expected: 'lines of text', fits: () => true, lines: true };
