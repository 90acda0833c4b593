/** Numbers that a certificate may sign for (RFC 8226 §9). */

/**
 * Authority over numbers. `all`: the certificate names a service provider or no numbers, so it does not limit the
 * numbers itself.
 */
export type TnAuthority = 'all' | readonly NumberRange[];

interface NumberRange {
  readonly first: string;
  readonly count: number;
}

/** DER of id-pe-TNAuthList, 1.3.6.1.5.5.7.1.26. */
const OID = Buffer.from('06082b0601050507011a', 'hex');
const OCTET_STRING = 0x04;
const BOOLEAN = 0x01;
/** Tags of TNEntry: [0] spc, [1] range, [2] one. */
const SPC = 0xa0;
const RANGE = 0xa1;
const ONE = 0xa2;
const MOST_ENTRIES = 10_000;

interface Node {
  readonly tag: number;
  readonly body: Buffer;
  readonly rest: Buffer;
}

/** Reads the authority of a DER certificate. Returns undefined if its list cannot be parsed. */
export function tnAuthority(certificate: Buffer): TnAuthority | undefined {
  const at = certificate.indexOf(OID);
  if (at === -1) return 'all';
  let next = nodeAt(certificate.subarray(at + OID.length));
  if (next?.tag === BOOLEAN) next = nodeAt(next.rest);
  if (next?.tag !== OCTET_STRING) return undefined;
  let entries = nodeAt(next.body)?.body;
  const ranges: NumberRange[] = [];
  for (let count = 0; entries !== undefined && entries.length > 0; count += 1) {
    const entry = nodeAt(entries);
    if (entry === undefined || count >= MOST_ENTRIES) return undefined;
    if (entry.tag === SPC) return 'all';
    const range = rangeIn(entry);
    if (range === undefined) return undefined;
    ranges.push(range);
    entries = entry.rest;
  }
  return ranges;
}

export const speaksFor = (authority: TnAuthority, number: string): boolean =>
  authority === 'all' ||
  authority.some(({ first, count }) => {
    // A number of a token may contain `*` and `#` (RFC 8225 §5.2.1), but no range does.
    if (first.length !== number.length || /\D/.test(number)) return false;
    const from = BigInt(first);
    const requested = BigInt(number);
    return requested >= from && requested < from + BigInt(count);
  });

function rangeIn({ tag, body }: Node): NumberRange | undefined {
  if (tag === ONE) {
    const number = nodeAt(body);
    return number === undefined ? undefined : rangeOf(number.body, 1);
  }
  if (tag !== RANGE) return undefined;
  // SEQUENCE { start IA5String, count INTEGER }, with an implicit or explicit tag.
  const outer = nodeAt(body);
  const start = outer?.tag === 0x30 ? nodeAt(outer.body) : outer;
  const count = start && nodeAt(start.rest);
  if (start === undefined || count === undefined || count.body.length > 6) return undefined;
  return rangeOf(start.body, Number.parseInt(count.body.toString('hex') || '0', 16));
}

function rangeOf(text: Buffer, count: number): NumberRange | undefined {
  const first = text.toString('latin1').replaceAll(/\D/g, '');
  return first === '' ? undefined : { first, count };
}

/** Parses one DER value, and returns it with the remaining bytes. */
function nodeAt(bytes: Buffer): Node | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4 || bytes.length < 2 + lengthBytes) return undefined;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (first === 0x80 || bytes.length < start + length) return undefined;
  return { tag, body: bytes.subarray(start, start + length), rest: bytes.subarray(start + length) };
}
