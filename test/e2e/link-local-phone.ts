/**
 * A phone with a link-local address only, run in another network namespace. Arguments: service address and port, user,
 * password, interface. It calls its application, presses 5 by RTP, and writes what it has received as JSON.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

const [host = '', port = '', user = '', password = '', link = ''] = process.argv.slice(2);
const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const token = (): string => randomBytes(6).toString('hex');

/** A socket at the address from which the service is reached. */
async function open(): Promise<Socket> {
  const socket = createSocket('udp6');
  socket.connect(Number(port), host);
  await once(socket, 'connect');
  const { address } = socket.address();
  socket.close();
  const bound = createSocket('udp6').bind(0, `${address}%${link}`);
  await once(bound, 'listening');
  return bound;
}

const [sip, rtp] = [await open(), await open()];
/** Address without its interface, as phones write it. */
const own = sip.address().address.replace(/%.*/, '');
const uri = `sip:1000@[${host}]:${port}`;
const [callId, tag] = [token(), token()];
const sdp = [
  ...['v=0', `o=- 1 1 IN IP6 ${own}`, 's=-', `c=IN IP6 ${own}`, 't=0 0'],
  ...[`m=audio ${rtp.address().port} RTP/AVP 0 101`, 'a=rtpmap:101 telephone-event/8000', ''],
].join('\r\n');

function send(
  method: string,
  cseq: number,
  more: { readonly to?: string; readonly headers?: string[]; readonly body?: string } = {},
) {
  const { to = `<${uri}>`, headers = [], body = '' } = more;
  const lines = [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/UDP [${own}]:${sip.address().port};branch=z9hG4bK${token()}`,
    `From: <sip:${user}@[${own}]>;tag=${tag}`,
    `To: ${to}`,
    `Call-ID: ${callId}`,
    `CSeq: ${cseq} ${method}`,
    `Contact: <sip:${user}@[${own}]:${sip.address().port}>`,
    'Max-Forwards: 70',
    ...headers,
    ...(body === '' ? [] : ['Content-Type: application/sdp']),
    `Content-Length: ${body.length}`,
  ];
  sip.send(`${lines.join('\r\n')}\r\n\r\n${body}`, Number(port), host);
}

/** Waits for a message that fits. */
async function next(fits: RegExp): Promise<string> {
  for (;;) {
    const [bytes] = (await once(sip, 'message')) as [Buffer];
    const text = bytes.toString();
    if (fits.test(text)) return text;
  }
}

const header = (text: string, name: string): string =>
  new RegExp(`^${name}: (.*)\\r$`, 'im').exec(text)?.[1] ?? '';

send('INVITE', 1, { body: sdp });
const challenge = await next(/^SIP\/2.0 401 /);
const via = header(challenge, 'Via');
send('ACK', 1, { to: header(challenge, 'To') });
const offered =
  /WWW-Authenticate: (Digest [^\r]*algorithm=MD5\b[^\r]*)/i.exec(challenge)?.[1] ?? '';
const value = (name: string): string => new RegExp(`${name}="([^"]*)"`).exec(offered)?.[1] ?? '';
const secret = md5(`${user}:${value('realm')}:${password}`);
const response = md5(`${secret}:${value('nonce')}:00000001:abc:auth:${md5(`INVITE:${uri}`)}`);
const proof = `Digest username="${user}",realm="${value('realm')}",nonce="${value('nonce')}",uri="${uri}",response="${response}",algorithm=MD5,qop=auth,nc=00000001,cnonce="abc"`;
send('INVITE', 2, { body: sdp, headers: [`Authorization: ${proof}`] });
const answer = await next(/^SIP\/2.0 200 [\s\S]*CSeq: 2 INVITE/);
send('ACK', 2, { to: header(answer, 'To') });

const rtpPort = Number(/^m=audio (\d+) /m.exec(answer)?.[1]);
const rtpHost = /^c=IN IP6 (\S+)\r$/m.exec(answer)?.[1] ?? '';
let heard = 0;
rtp.on('message', () => {
  heard += 1;
});
const packet = (sequence: number, type: number, payload: Buffer, timestamp: number): Buffer => {
  const head = Buffer.from([0x80, type, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
  head.writeUInt16BE(sequence, 2);
  head.writeUInt32BE(timestamp, 4);
  return Buffer.concat([head, payload]);
};
let sent = 0;
const timer = setInterval(() => {
  // A key of 100 ms after 20 packets of silence.
  const at = sent - 20;
  const isKey = at >= 0 && at < 8;
  const duration = 160 * (at + 1);
  const event = Buffer.from([5, at >= 5 ? 0x8a : 10, duration >> 8, duration & 255]);
  const payload = isKey ? event : Buffer.alloc(160, 0xff);
  rtp.send(packet(sent, isKey ? 101 : 0, payload, 160 * (isKey ? 20 : sent)), rtpPort, rtpHost);
  sent += 1;
}, 20);
const bye = await next(/^BYE /);
clearInterval(timer);
sip.send(bye.replace(/^BYE .*\r/, 'SIP/2.0 200 OK\r'), Number(port), host);
console.log(JSON.stringify({ own, via, heard, answer: rtpHost }));
sip.close();
rtp.close();
