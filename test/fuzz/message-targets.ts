/** Parsers of messages and documents: SIP, answer XML, audio streams, PASSporT, contact lists. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asStreamId } from '../../src/base/ids.ts';
import { CsvListReader } from '../../src/edge/rest/contacts/csv-reader.ts';
import { JsonListReader } from '../../src/edge/rest/contacts/json-reader.ts';
import { ListFault, type ListReader } from '../../src/edge/rest/contacts/reader.ts';
import { readPayload } from '../../src/edge/sip/drachtio/frames.ts';
import { readIdentity, readPassport } from '../../src/edge/stir/passport.ts';
import { parseAnswerXml } from '../../src/protocol/answer-xml/answer-xml.ts';
import { readApplicationMessage } from '../../src/protocol/audio-stream/application-message.ts';
import { readMediaMessage } from '../../src/protocol/audio-stream/media-message.ts';
import { parseAuth } from '../../src/protocol/sip/header/auth.ts';
import { parseNameAddr } from '../../src/protocol/sip/header/name-addr.ts';
import { parseVia } from '../../src/protocol/sip/header/via.ts';
import { parseMessage } from '../../src/protocol/sip/parse.ts';
import { serialize } from '../../src/protocol/sip/serialize.ts';
import { parseUri } from '../../src/protocol/sip/uri.ts';
import type { FuzzTarget } from './target.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url));
const text = (input: Uint8Array): string => Buffer.from(input).toString('utf8');
const inputs = (...texts: readonly string[]): readonly Uint8Array[] =>
  texts.map((one) => Buffer.from(one));
const CONTEXT = {
  streamId: asStreamId('s'),
  format: { encoding: 'audio/x-l16', rate: 8000 },
  notes: true,
  transfers: true,
} as const;
const lines = (...of: readonly string[]): string => of.join('\r\n');

const MESSAGES = inputs(
  lines(
    'INVITE sip:bob@example.com;transport=tcp SIP/2.0',
    'Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bK1;rport, SIP/2.0/TLS [2001:db8::1];branch=z9hG4bK2',
    'From: "Alice \\" B" <sip:alice@example.com>;tag=1',
    'To: <sips:bob@example.com?subject=x>',
    'Call-ID: a@b',
    'CSeq: 1 INVITE',
    'Contact: <sip:alice@192.0.2.1;ob>;expires=60;+sip.instance="<urn:uuid:1>"',
    'Authorization: Digest username="a", realm="r", nonce="n", uri="sip:x", response="0", algorithm=SHA-256, qop=auth, nc=00000001, cnonce="c"',
    'Record-Route: <sip:p1;lr>, <sip:p2;lr>',
    'Max-Forwards: 70',
    'Content-Type: application/sdp',
    'Content-Length: 5',
    '',
    'v=0\r\n',
  ),
  lines(
    'SIP/2.0 200 OK',
    'v: SIP/2.0/WSS a.invalid;branch=z9hG4bK3',
    'f: sip:a@b;tag=1',
    't: sip:c@d;tag=2',
    'i: 1',
    'CSeq: 4294967295 BYE',
    'l: 0',
    '',
    '',
  ),
);

function list(reader: ListReader, input: Uint8Array): void {
  const at = input.length >> 1;
  try {
    reader.write(input.subarray(0, at));
    reader.write(input.subarray(at));
    reader.end();
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
  }
}

function documents(): readonly Uint8Array[] {
  const folders = ['valid', 'invalid'].map((name) => join(FIXTURES, 'answer-xml', name));
  return folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.xml'))
      .map((name) => readFileSync(join(folder, name))),
  );
}

const PASSPORT = [
  Buffer.from('{"alg":"ES256","ppt":"shaken","typ":"passport","x5u":"https://c.example/a.pem"}'),
  Buffer.from(
    '{"attest":"A","dest":{"tn":["14155550123"]},"iat":1700000000,"orig":{"tn":"14155550100"},"origid":"1"}',
  ),
  Buffer.alloc(64, 7),
]
  .map((part) => part.toString('base64url'))
  .join('.');

export const MESSAGE_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'sip',
    runs: 3000,
    seeds: async () => MESSAGES,
    run: async (input) => {
      const parsed = parseMessage(input);
      if (!parsed.ok) return;
      // A peer must be able to read the forwarded message.
      const again = parseMessage(serialize(parsed.message));
      if (!again.ok) throw new Error(`serialized message is refused: ${again.error.reason}`);
    },
  },
  {
    name: 'sip-fields',
    runs: 4000,
    seeds: async () =>
      inputs(
        '"Alice" <sip:a%20b:p@[2001:db8::1]:5060;transport=ws?h=v>;tag=x;q=0.5',
        'SIP/2.0/TLS host.example:5061;branch=z9hG4bK;received=192.0.2.1;rport=5',
        'Digest realm="a\\"b", nonce=x, qop="auth,auth-int", stale=true, algorithm=MD5',
        'tel:+1-415-555-0100;phone-context=example.com',
      ),
    run: async (input) => {
      const value = text(input);
      parseNameAddr(value);
      parseVia(value);
      parseAuth(value);
      parseUri(value);
    },
  },
  {
    name: 'answer-xml',
    runs: 1500,
    seeds: async () => documents(),
    run: async (input) => {
      parseAnswerXml(text(input), { allowInsecureStreams: true });
    },
  },
  {
    name: 'stream-messages',
    runs: 3000,
    seeds: async () =>
      inputs(
        '{"event":"playAudio","media":{"contentType":"audio/x-l16","sampleRate":8000,"payload":"AAAA"}}',
        '{"event":"checkpoint","streamId":"s","name":"a"}',
        '{"event":"sendDTMF","dtmf":"12w#"}',
        '{"event":"transfer","transfer":{"to":"14155550123","mode":"warm"}}',
        '{"event":"note","note":{"role":"user","text":"hello"}}',
        '{"sequenceNumber":1,"event":"media","streamId":"s","media":{"track":"outbound","payload":"AAAA"}}',
      ),
    run: async (input) => {
      readApplicationMessage(input, CONTEXT);
      readMediaMessage(input);
    },
  },
  {
    name: 'stir',
    runs: 2000,
    seeds: async () =>
      inputs(
        `${PASSPORT};info=<https://c.example/a.pem>;alg=ES256;ppt="shaken"`,
        `..${'A'.repeat(86)};info=<https://c.example/a.pem>;alg=ES256`,
      ),
    run: async (input) => {
      const field = readIdentity(text(input));
      if (field !== undefined) readPassport(field, { orig: '1', dest: '2', dateS: 1 });
    },
  },
  {
    name: 'contacts',
    runs: 800,
    seeds: async () =>
      inputs(
        'to,name,X-Id\r\n+14155550100,"A ""B""",1\n14155550101;x,,\n',
        '\uFEFF[{"to":"+14155550100","name":"A"},{"to":1}]',
        '{"contacts":[{"to":"+14155550100","X-Id":"\\u00e9"}],"x":[[[]]]}',
      ),
    run: async (input) => {
      list(new CsvListReader(), input);
      list(new JsonListReader(), input);
    },
  },
  {
    name: 'drachtio',
    runs: 2000,
    seeds: async () =>
      inputs(
        'id|response|m1|OK|a|b',
        `id|sip|network|60|udp|192.0.2.1|5060|12:00:00.1|t1|d1\r\n${text(MESSAGES[1] ?? new Uint8Array())}`,
      ),
    run: async (input) => {
      readPayload(Buffer.from(input));
    },
  },
];
