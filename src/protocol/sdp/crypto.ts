/** SRTP keys in a description: `a=crypto` (RFC 4568, RFC 6188, RFC 7714). */
import type { CryptoLine, MediaDescription, SrtpSuite } from './types.ts';

/** Length of master key and master salt together, in bytes. */
const KEY_BYTES: Readonly<Record<SrtpSuite, number>> = {
  AES_CM_128_HMAC_SHA1_80: 30,
  AES_CM_128_HMAC_SHA1_32: 30,
  AES_256_CM_HMAC_SHA1_80: 46,
  AES_256_CM_HMAC_SHA1_32: 46,
  AEAD_AES_128_GCM: 28,
  AEAD_AES_256_GCM: 44,
};

/** Suites in our offers, in order of preference: the most widely supported first. */
export const OFFERED_SUITES: readonly SrtpSuite[] = ['AES_CM_128_HMAC_SHA1_80', 'AEAD_AES_128_GCM'];

export const srtpKeyBytes = (suite: SrtpSuite): number => KEY_BYTES[suite];

const isSuite = (name: string): name is SrtpSuite => Object.hasOwn(KEY_BYTES, name);

const LINE = /^([0-9]{1,9})[ \t]+(\S+)[ \t]+inline:(\S+)((?:[ \t]+\S+)*)$/;
const MKI = /^[0-9]+:([0-9]{1,3})$/;
const MAX_MKI_BYTES = 128;
/** Session parameters that do not change packets. Any other parameter is unsupported (§6.3). */
const HARMLESS = /^(WSH=[0-9]+|KDR=0)$/i;

/** Usable lines in the peer's order of preference. Lines with unknown suites or parameters are skipped. */
export const cryptoLines = (media: MediaDescription): readonly CryptoLine[] =>
  media.attributes.flatMap(({ name, value }) =>
    name === 'crypto' ? (readCryptoLine(value ?? '') ?? []) : [],
  );

/** Parses `<tag> <suite> inline:<key||salt>[|lifetime][|MKI:length] [parameters]` (§9.2). */
export function readCryptoLine(value: string): CryptoLine | undefined {
  const [, tag = '', suite = '', inline = '', parameters = ''] = LINE.exec(value) ?? [];
  const name = suite.toUpperCase();
  // Several keys in one line (`;`) need key identifiers to select one. No known peer sends them.
  if (!isSuite(name) || inline.includes(';')) return undefined;
  if (!parameters.split(/[ \t]+/).every((word) => word === '' || HARMLESS.test(word))) {
    return undefined;
  }
  const [text = '', ...extras] = inline.split('|');
  const key = Buffer.from(text, 'base64');
  const identifier = extras.at(-1)?.includes(':') === true ? extras.at(-1) : undefined;
  const mkiBytes = identifier === undefined ? 0 : Number(MKI.exec(identifier)?.[1] ?? Number.NaN);
  if (key.length !== KEY_BYTES[name] || !(mkiBytes <= MAX_MKI_BYTES)) return undefined;
  return { tag: Number(tag), suite: name, key, mkiBytes };
}

/** Attribute value of a local line. */
export const writeCryptoLine = ({ tag, suite, key }: Omit<CryptoLine, 'mkiBytes'>): string =>
  `${tag} ${suite} inline:${Buffer.from(key).toString('base64')}`;
