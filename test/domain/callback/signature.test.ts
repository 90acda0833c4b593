import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { createUpgradeSigner } from '../../../src/domain/callback/callback.ts';
import { formEncode, withQuery } from '../../../src/domain/callback/form.ts';
import {
  type SignedRequest,
  signatureHeaders,
  signedStrings,
  upgradeSignatureHeaders,
} from '../../../src/domain/callback/signature.ts';
import { seededRandom } from './fake-http.ts';

const sdk = createRequire(import.meta.url)('plivo') as {
  validateV3Signature(
    method: string,
    url: string,
    nonce: string,
    token: string,
    signature: string,
    parameters?: Record<string, string | string[]>,
  ): boolean;
  validateSignature(url: string, nonce: string, signature: string, token: string): boolean;
};

const token = 'test-auth-token';
const nonce = '12345678901234567890';
const tokens = { own: token, parent: undefined };
const prefixes = ['X-Vobiz-Signature', 'X-Plivo-Signature'];
const headersOf = (
  request: SignedRequest,
  using: { own: string; parent: string | undefined } = tokens,
) => signatureHeaders(signedStrings(request, nonce), using, prefixes);
const post = (
  url: string,
  bodyParameters: SignedRequest['bodyParameters'] = [],
): SignedRequest => ({
  method: 'POST',
  url,
  bodyParameters,
});

it('signs the path of a stream URL as the upgrade request contains it', () => {
  const configured = 'wss://example.com/café/{id}?tenant=7';
  const sent = 'https://example.com/caf%C3%A9/%7Bid%7D?tenant=7';
  expect(upgradeSignatureHeaders(configured, tokens, prefixes, nonce)).toEqual(
    headersOf({ method: 'GET', url: sent, bodyParameters: [] }),
  );
});

describe('webhook signatures: the vectors of dialect §4.3', () => {
  it('Plivo V3 POST with a body', () => {
    const request = post('https://example.com/answer', [
      ['CallUUID', 'abc'],
      ['From', '14155550100'],
      ['To', '14155550101'],
    ]);
    expect(headersOf(request)['X-Plivo-Signature-V3']).toBe(
      'idOoZUbUDLg4MZRgBrKkKTrDQPNwTQIOTbErjuyFNgU=',
    );
  });

  it('Plivo V3 POST with query and body', () => {
    const request = post('https://example.com/answer?foo=bar&a=1', [
      ['CallUUID', 'abc'],
      ['From', '+14155550100'],
    ]);
    expect(headersOf(request)['X-Plivo-Signature-V3']).toBe(
      'CJ0j65qG46ntFZEBZksfbEod1hvvEiezVIKmgqYQ2KY=',
    );
  });

  it('Plivo V3 without parameters, and Vobiz V3', () => {
    const vector = '7B1re+NqekErBOQb4EU34ehKrBFHDs1NVWx4pnjNzFI=';
    const bare = post('https://example.com/answer');
    expect(headersOf(bare)['X-Plivo-Signature-V3']).toBe(vector);
    expect(headersOf({ ...bare, method: 'GET' })['X-Plivo-Signature-V3']).toBe(vector);
    const full = post('https://example.com/answer?foo=bar', [['CallUUID', 'abc']]);
    expect(headersOf(full)['X-Vobiz-Signature-V3']).toBe(vector);
  });

  it('Plivo V3 GET with parameters in the query', () => {
    const url = 'https://example.com/answer?To=%2B14155550101&CallUUID=abc';
    expect(headersOf({ method: 'GET', url, bodyParameters: [] })['X-Plivo-Signature-V3']).toBe(
      'EoXX7MCsaPiuoCb1z+MDwzN1lAVWGvvg23vFEkdp6OU=',
    );
  });

  it.each([
    ['wss://example.com/ws', 'v81m3TVBAo2MXse/HBKHWtmH3RZQ0esAul6On0Jo+As='],
    ['wss://example.com:8443/ws?tenant=7', 'OBgkZWkVnj5nxzEqXp1qNcEi2eqE+Dp7IYsty0cf6Pc='],
  ])('signs the upgrade of %s as https', (url, vector) => {
    expect(upgradeSignatureHeaders(url, tokens, prefixes, nonce)['X-Plivo-Signature-V3']).toBe(
      vector,
    );
  });

  it('V2 of both families', () => {
    const headers = headersOf(post('https://example.com/answer?q=1', [['a', 'b']]));
    const vector = 'pcm2ovD1AY9fJLI9YYyP/yZgOE/wWJ9uWa7UxlbotoQ=';
    expect(headers['X-Plivo-Signature-V2']).toBe(vector);
    expect(headers['X-Vobiz-Signature-V2']).toBe(vector);
  });
});

describe('upgrades of audio streams', () => {
  const signer = createUpgradeSigner({
    tokens: { tokensOf: async (id) => (id === 'MA_X' ? tokens : undefined) },
    random: seededRandom(),
    settings: { userAgent: 'Test/1', signatureHeaders: prefixes, firstByteMs: 5000 },
  });

  it('are accepted by the plivo SDK as a GET of the https form (dialect §1.4)', async () => {
    const headers = await signer('wss://user:secret@bot.example/ws?b=2&a=1', asAccountId('MA_X'));
    expect(
      sdk.validateV3Signature(
        'GET',
        'https://bot.example/ws?b=2&a=1',
        headers['X-Plivo-Signature-V3-Nonce'] ?? '',
        token,
        headers['X-Plivo-Signature-V3'] ?? '',
      ),
    ).toBe(true);
  });

  it('are unsigned for an account without a token', async () => {
    expect(await signer('wss://bot.example/ws', asAccountId('MA_GONE'))).toEqual({});
  });
});

describe('webhook signatures: signed text and tokens', () => {
  it("sends the nonce and signs the main-account variants with the parent's token", () => {
    const headers = headersOf(post('https://example.com/answer'), { own: 'sub', parent: token });
    expect(headers).toMatchObject({
      'X-Plivo-Signature-V3-Nonce': nonce,
      'X-Vobiz-Signature-V2-Nonce': nonce,
      'X-Plivo-Signature-Ma-V3': '7B1re+NqekErBOQb4EU34ehKrBFHDs1NVWx4pnjNzFI=',
      'X-Vobiz-Signature-MA-V3': '7B1re+NqekErBOQb4EU34ehKrBFHDs1NVWx4pnjNzFI=',
    });
    expect(headers['X-Plivo-Signature-V3']).not.toBe(headers['X-Plivo-Signature-Ma-V3']);
  });

  it('excludes user information, includes an explicit port, and signs an empty path as /', () => {
    expect(signedStrings(post('https://user:secret@example.com:8443'), nonce).plivoV3).toBe(
      `https://example.com:8443/.${nonce}`,
    );
  });

  it('does not mistake an @ in path or query for user information', () => {
    expect(signedStrings(post('https://example.com/a@b?c=d@e'), nonce).plivoV3).toBe(
      `https://example.com/a@b?c=d@e.${nonce}`,
    );
  });

  it('sorts the values of one name', () => {
    const request = post('https://example.com/?b=2&a=9&b=1', [
      ['z', '2'],
      ['y', '1'],
      ['z', '1'],
    ]);
    expect(signedStrings(request, nonce).plivoV3).toBe(
      `https://example.com/?a=9&b=1&b=2.y1z1z2.${nonce}`,
    );
  });
});

describe("webhook signatures: the plivo SDK's own validator accepts them", () => {
  const parameters: ReadonlyArray<readonly [string, string]> = [
    ['CallUUID', 'a b&c=d'],
    ['From', 'sip:alice@example.com'],
    ['To', '+1415é😀'],
    ['Empty', ''],
    ['X-PH-Note', 'x+y%20z'],
  ];
  const urls = [
    'https://example.com',
    'https://example.com/',
    'https://example.com/answer',
    'https://example.com:8443/a/b/?x=1&x=0&y=%C3%A9+%2B',
    'http://example.com/a%20b?q',
  ];

  it.each(urls)('POST %s', (url) => {
    const headers = headersOf(post(url, parameters));
    const seen = Object.fromEntries(new URLSearchParams(formEncode(parameters)));
    // A server sees an empty path as "/".
    const called = url === 'https://example.com' ? `${url}/` : url;
    expect(
      sdk.validateV3Signature(
        'POST',
        called,
        nonce,
        token,
        headers['X-Plivo-Signature-V3'] ?? '',
        seen,
      ),
    ).toBe(true);
    expect(sdk.validateSignature(called, nonce, headers['X-Plivo-Signature-V2'] ?? '', token)).toBe(
      true,
    );
  });

  it.each(urls)('GET %s', (url) => {
    const called = withQuery(url === 'https://example.com' ? `${url}/` : url, parameters);
    const headers = headersOf({ method: 'GET', url: called, bodyParameters: [] });
    expect(
      sdk.validateV3Signature('GET', called, nonce, token, headers['X-Plivo-Signature-V3'] ?? ''),
    ).toBe(true);
  });

  it('and rejects them for another body', () => {
    const headers = headersOf(post('https://example.com/answer', [['a', '1']]));
    expect(
      sdk.validateV3Signature(
        'POST',
        'https://example.com/answer',
        nonce,
        token,
        headers['X-Plivo-Signature-V3'] ?? '',
        { a: '2' },
      ),
    ).toBe(false);
  });
});
