import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isCertificateOf } from '../../../src/edge/sip/transport/server-identity.ts';
import { aliasOf } from '../../../src/edge/sip/transport/via-alias.ts';
import { certificate } from './certificates.ts';

describe('certificate names (RFC 5922 §7)', () => {
  it.each([
    ['a.test', ['a.test'], true],
    ['A.Test.', ['a.test'], true],
    ['b.test', ['a.test', 'b.test'], true],
    ['b.a.test', ['a.test'], false],
    ['b.a.test', ['*.a.test'], false],
    // URIs take precedence over DNS names, and a URI with a user never identifies a server.
    ['a.test', ['sip:b.test', 'a.test'], false],
    ['b.test', ['sip:b.test', 'a.test'], true],
    ['a.test', ['sip:me@b.test', 'a.test'], true],
    ['b.test', ['sip:me@b.test', 'a.test'], false],
    ['192.0.2.1', ['192.0.2.1'], true],
    ['192.0.2.2', ['192.0.2.1'], false],
    ['2001:db8::1', ['2001:db8:0:0:0:0:0:1'], true],
    ['192.0.2.1', ['a.test'], false],
  ])('%s: %j → %s', async (name, names, expected) => {
    const { cert } = await certificate(names);
    expect(isCertificateOf(new X509Certificate(cert), name, false)).toBe(expected);
  });

  it('uses the common name if there is no alternative name', async () => {
    const { cert } = await certificate([]);
    expect(isCertificateOf(new X509Certificate(cert), 'authority', false)).toBe(true);
  });

  it('matches a wildcard to one label if allowed', async () => {
    const shown = new X509Certificate((await certificate(['*.a.test'])).cert);
    const covers = ['b.a.test', 'c.b.a.test', 'a.test'].map((name) =>
      isCertificateOf(shown, name, true),
    );
    expect(covers).toEqual([true, false, false]);
  });
});

describe('alias of a Via (RFC 5923 §5)', () => {
  it.each([
    ['SIP/2.0/TLS gw.test:5071;branch=z9hG4bK1;alias', { host: 'gw.test', port: 5071 }],
    ['SIP / 2.0 / TLS [2001:db8::1];alias;rport', { host: '2001:db8::1', port: 5061 }],
    ['SIP/2.0/TLS gw.test;branch=z9hG4bKalias', undefined],
    ['SIP/2.0/TCP gw.test;alias', undefined],
    ['SIP/2.0/TLS gw.test;branch=a, SIP/2.0/TLS b.test;alias', undefined],
  ])('%s', (via, expected) => {
    const text = `OPTIONS sip:a SIP/2.0\r\nVia: ${via}\r\nMax-Forwards: 1\r\n\r\n`;
    expect(aliasOf(Buffer.from(text))).toEqual(expected);
  });
});
