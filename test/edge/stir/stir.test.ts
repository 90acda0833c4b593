/** Signing and verification of caller numbers with a test authority (RFC 8224, 8225, 8226, 8588). */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { CompactSign } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { err, ok } from '../../../src/base/result.ts';
import type { CallerClaim, CallerProofs } from '../../../src/domain/call/needs.ts';
import type { FetchCertificate } from '../../../src/edge/stir/certificates.ts';
import { createCallerProofs } from '../../../src/edge/stir/stir.ts';
import { certificate, IdentityFolder, type Pair } from '../sip/certificates.ts';

const URL_OF_OURS = 'https://certs.test/sp.pem';
const ORIG = '14155550100';
const DEST = '14155550177';
const STATEMENT = { orig: ORIG, dest: DEST, attestation: 'A', account: 'MA_1' } as const;
const CLAIM = { orig: [`+${ORIG}`], dest: [`+${DEST}`] };

const folder = new IdentityFolder();
const nowMs = Date.now();
let authority: Pair;
let signer: Pair;
let proofs: CallerProofs;
/** Pages by URL, and the requested URLs. */
const pages = new Map<string, string>();
const requested: string[] = [];

const fetch: FetchCertificate = async (url) => {
  requested.push(url);
  const text = pages.get(url);
  return text === undefined ? err('unreachable') : ok(Buffer.from(text));
};

const proofsWith = (over: { anchors?: string; keyFile?: string; wallMs?: () => number } = {}) =>
  createCallerProofs({
    anchorsFile: over.anchors ?? folder.write('anchors.pem', authority.cert),
    keyFile: over.keyFile ?? folder.write('signer.key', signer.key),
    certificateUrl: URL_OF_OURS,
    freshnessS: 60,
    logger: silentLogger,
    fetch,
    wallMs: over.wallMs ?? (() => nowMs),
  });

beforeAll(async () => {
  authority = await certificate([]);
  signer = await certificate(['sp.test'], authority);
});
afterAll(() => folder.remove());
beforeEach(() => {
  pages.clear();
  requested.length = 0;
  pages.set(URL_OF_OURS, signer.cert);
  proofs = proofsWith();
});

const signed = async (over: Partial<typeof STATEMENT> = {}): Promise<string> =>
  (await proofs.sign?.({ ...STATEMENT, ...over })) ?? '';
const verified = (claim: Partial<CallerClaim> & { identity: readonly string[] }) =>
  proofs.verify?.({ ...CLAIM, ...claim });

/** Builds a token with custom claims. */
async function token(
  payload: object,
  header: object = {},
  { key = signer.key, info = URL_OF_OURS } = {},
): Promise<string> {
  const jws = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: 'ES256', typ: 'passport', x5u: info, ...header })
    .sign(createPrivateKey(key));
  const ppt = 'ppt' in header ? `;ppt=${String(header.ppt)}` : '';
  return `${jws};info=<${info}>;alg=ES256${ppt}`;
}
const claims = (over: object = {}) => ({
  dest: { tn: [DEST] },
  iat: Math.floor(nowMs / 1000),
  orig: { tn: ORIG },
  ...over,
});

/** Replaces the algorithm of the key by an unknown one. */
function withUnknownKey(cert: string): string {
  const der = Buffer.from(new X509Certificate(cert).raw);
  const ecPublicKey = Buffer.from('06072a8648ce3d0201', 'hex');
  der.writeUInt8(0x7f, der.indexOf(ecPublicKey) + ecPublicKey.length - 2);
  const text = der.toString('base64').replaceAll(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
}

describe('a signed call', () => {
  it("has a SHAKEN PASSporT with both numbers, the attestation and the certificate's URL", async () => {
    const [jws = '', ...parameters] = (await signed()).split(';');
    const [header, payload] = jws
      .split('.')
      .slice(0, 2)
      .map((part) => Buffer.from(part, 'base64url').toString());
    expect(header).toBe(`{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"${URL_OF_OURS}"}`);
    expect(payload).toMatch(
      new RegExp(
        `^{"attest":"A","dest":{"tn":\\["${DEST}"\\]},"iat":${Math.floor(nowMs / 1000)},"orig":{"tn":"${ORIG}"},"origid":"[0-9a-f-]{36}"}$`,
      ),
    );
    expect(parameters).toEqual([`info=<${URL_OF_OURS}>`, 'alg=ES256', 'ppt=shaken']);
  });

  it('is verified with its authority, and its certificate is downloaded once', async () => {
    const identity = [await signed({ attestation: 'B' as 'A' })];
    const both = await Promise.all([verified({ identity }), verified({ identity })]);
    expect(both).toEqual(Array(2).fill({ isVerified: true, attestation: 'B' }));
    await verified({ identity });
    expect(requested).toEqual([URL_OF_OURS]);
  });
});

describe('invalid proofs', () => {
  const refused = async (identity: readonly string[], over: Partial<CallerClaim> = {}) => {
    const proof = await verified({ identity, ...over });
    if (proof === undefined || proof.isVerified) return proof;
    return proof.status;
  };

  it('a call with other numbers: 438', async () => {
    const identity = [await signed()];
    expect(await refused(identity, { orig: ['+14155550999'] })).toBe(438);
    expect(await refused(identity, { dest: ['+14155550999'] })).toBe(438);
  });

  it.each([
    ['the caller', ORIG, (orig: string[]) => ({ orig })],
    ['the called number', DEST, (dest: string[]) => ({ dest })],
  ])('digits of an address that are no number of %s: 438', async (_, number, as) => {
    const identity = [await signed()];
    const cut = number.slice(0, -2);
    const host = `${number.slice(-2)}.test`;
    for (const named of [[cut, `sip:${cut}@${host}`], [`a${number}b`]])
      expect(await refused(identity, as(named))).toBe(438);
    expect(await refused(identity, as([`tel:+${number}`]))).toMatchObject({ isVerified: true });
  });

  it('an expired or future proof: 403', async () => {
    for (const iat of [nowMs / 1000 - 61, nowMs / 1000 + 61].map(Math.floor)) {
      const identity = [await token(claims({ iat }))];
      expect(await verified({ identity })).toMatchObject({ status: 403, phrase: 'Stale Date' });
    }
  });

  it('a signature of another key: 438', async () => {
    const other = await certificate(['sp.test'], authority);
    expect(await refused([await token(claims(), {}, { key: other.key })])).toBe(438);
  });

  it('a missing or invalid certificate: 436', async () => {
    const identity = [await signed()];
    pages.clear();
    expect(await refused(identity)).toBe(436);
    pages.set('https://certs.test/page', '<html>');
    expect(await refused([await token(claims(), {}, { info: 'https://certs.test/page' })])).toBe(
      436,
    );
  });

  it('a certificate without a trusted authority: 437', async () => {
    const outsider = await certificate(['sp.test'], await certificate([]));
    pages.set(URL_OF_OURS, outsider.cert);
    expect(await refused([await token(claims(), {}, { key: outsider.key })])).toBe(437);
    const itself = await certificate(['sp.test']);
    pages.set('https://certs.test/self', itself.cert);
    const own = { key: itself.key, info: 'https://certs.test/self' };
    expect(await refused([await token(claims(), {}, own)])).toBe(437);
  });

  it('a certificate whose key cannot be decoded, and one behind such a certificate: 437', async () => {
    const broken = withUnknownKey(signer.cert);
    pages.set(URL_OF_OURS, broken);
    expect(await refused([await token(claims())])).toBe(437);
    const outsider = await certificate([]);
    const leaf = await certificate(['leaf.test'], outsider);
    pages.set('https://certs.test/chain', `${leaf.cert}\n${withUnknownKey(outsider.cert)}`);
    const info = 'https://certs.test/chain';
    expect(await refused([await token(claims(), {}, { key: leaf.key, info })])).toBe(437);
  });

  it('a certificate that is not valid at the time: 437', async () => {
    const year = 10 * 366 * 86_400_000;
    proofs = proofsWith({ wallMs: () => nowMs + year });
    expect(await refused([await signed()])).toBe(437);
  });

  it.each([
    ['another algorithm', async () => (await signed()).replace('alg=ES256', 'alg=none')],
    ['info different from x5u', async () => (await signed()).replace('sp.pem', 'other.pem')],
    ['no token', async () => `nonsense;info=<${URL_OF_OURS}>`],
    ['SHAKEN without attest', () => token(claims(), { ppt: 'shaken' })],
    ['no orig', () => token({ dest: { tn: [DEST] }, iat: 1 })],
  ])('%s: 438', async (_, identity) => {
    expect(await refused([await identity()])).toBe(438);
  });

  it('no Identity, or only unsupported extensions: 428', async () => {
    expect(await refused([])).toBe(428);
    expect(await refused([await token(claims({ rph: {} }), { ppt: 'rph' })])).toBe(428);
  });
});

describe('further variants', () => {
  it('accepts a chain in one file, and one valid proof among several', async () => {
    const between = await certificate(['between.test'], authority);
    // A leaf certificate may not issue others, so it is not a valid link of a chain.
    const leaf = await certificate(['leaf.test'], between);
    pages.set('https://certs.test/chain', `${leaf.cert}\n${between.cert}`);
    const broken = await token(claims(), {}, { key: leaf.key, info: 'https://certs.test/chain' });
    expect(await verified({ identity: [broken] })).toMatchObject({ status: 437 });
    expect(await verified({ identity: [broken, await signed()] })).toEqual({
      isVerified: true,
      attestation: 'A',
    });
  });

  it('without an extension is verified but has no attestation', async () => {
    expect(await verified({ identity: [await token(claims())] })).toEqual({
      isVerified: true,
      attestation: '',
    });
  });

  it('the compact form uses the Date of the message', async () => {
    const iat = Math.floor(nowMs / 1000);
    const whole = await token(claims({ iat }));
    const compact = whole.replace(/^[^.]+\.[^.]+\./, '..');
    const date = new Date(iat * 1000).toUTCString();
    expect(await verified({ identity: [compact], date })).toMatchObject({ isVerified: true });
    expect(await verified({ identity: [compact] })).toMatchObject({ status: 438 });
  });

  it('accepts a caller named by P-Asserted-Identity, and URIs in place of numbers', async () => {
    const identity = [await token(claims({ orig: { uri: 'sip:ada@far.test' } }))];
    const orig = ['anonymous', 'sip:anonymous@anonymous.invalid', 'sip:Ada@far.test'];
    expect(await verified({ identity, orig })).toMatchObject({ isVerified: true });
  });

  it('reloads changed files, and keeps the previous ones if they are invalid', async () => {
    const other = await certificate([]);
    const file = folder.write('changing.pem', other.cert);
    const reloading = proofsWith({ anchors: file });
    const claim = { ...CLAIM, identity: [await signed()] };
    expect(await reloading.verify?.(claim)).toMatchObject({ status: 437 });
    folder.write('changing.pem', authority.cert);
    reloading.reload();
    expect(await reloading.verify?.(claim)).toMatchObject({ isVerified: true });
    folder.write('changing.pem', 'nothing');
    reloading.reload();
    expect(await reloading.verify?.(claim)).toMatchObject({ isVerified: true });
  });

  it('fails the start if files cannot be used', () => {
    const empty = folder.write('empty.pem', '');
    expect(() => proofsWith({ anchors: empty })).toThrow(/contains no certificate/);
    expect(() => proofsWith({ keyFile: empty })).toThrow(/cannot be used/);
  });
});
