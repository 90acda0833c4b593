/** Extracts Call-IDs from SIP messages as bytes, and masks secrets in them. */
import { MASK, maskSecrets } from '../../../base/mask.ts';
import { asBuffer } from '../../../protocol/sip/sip.ts';

const CREDENTIALS = /^((?:proxy-)?authorization[ \t]*:[ \t]*\S+)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
/** Signed PASSporTs (RFC 8224). They identify caller and callee, and a copy could be replayed. */
const TOKENS =
  /^((?:identity|y|[\w.-]{0,60}(?:token|secret|passw|api-?key)[\w.-]{0,60})[ \t]*:)[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*/gim;
const MEDIA_KEYS = /^(a=(?:crypto:\d{1,9}[ \t]+[\w-]+|ice-pwd:|key-mgmt:))[^\r\n]*/gm;
/** Types of bodies with pressed keys: INFO of phones and gateways, and reports of RFC 4730. */
const KEYS_TYPE =
  /^(?:content-type|c)[ \t]*:\s*[\w.+-]+\/[\w.+-]*(?:dtmf|digit|kpml|telephone-event)/im;
/** Lines of such a body, with the name of their field. */
const KEYS_LINE = /^([ \t]*[a-z]{1,20}[ \t]*=)?[^\r\n]+/gim;
const CALL_ID = /^(?:call-id|i)[ \t]*:[ \t]*(\S+)/im;
const USUAL_CALL_ID = Buffer.from('\nCall-ID: ');
const END_OF_HEAD = '\n\r\n';
const END_BYTES = Buffer.from(END_OF_HEAD);
const CR = 13;
const BLANK = /\s/;

/** Tries the usual spelling first, because a text search costs a tenth of a pattern search. */
export function callIdOf(bytes: Uint8Array): string | undefined {
  const message = asBuffer(bytes);
  return usualCallId(message) ?? CALL_ID.exec(headOf(message.toString('latin1')))?.[1];
}

function usualCallId(message: Buffer): string | undefined {
  const at = message.indexOf(USUAL_CALL_ID);
  const headEnd = message.indexOf(END_BYTES);
  if (at === -1 || (headEnd !== -1 && headEnd < at)) return undefined;
  const start = at + USUAL_CALL_ID.length;
  const end = message.indexOf(CR, start);
  const callId = end > start ? message.toString('latin1', start, end) : ' ';
  return BLANK.test(callId) ? undefined : callId;
}

function headOf(text: string): string {
  const end = text.indexOf(END_OF_HEAD);
  return end === -1 ? text : text.slice(0, end);
}

/** The message without the keys that a SIP INFO reports: they may be card data, like those in RTP, which is not traced. */
function withoutKeys(text: string): string {
  const bodyAt = text.indexOf('\r\n\r\n');
  if (bodyAt === -1 || !KEYS_TYPE.test(text.slice(0, bodyAt))) return text;
  const shown = text
    .slice(bodyAt + 4)
    .replace(KEYS_LINE, (line, field = '') =>
      /^[ \t]*duration/i.test(field) ? line : `${field}${MASK}`,
    );
  return text.slice(0, bodyAt + 4) + shown;
}

/** The message with credentials, media keys, identity tokens and pressed keys masked. */
export const masked = (text: string): string =>
  maskSecrets(
    withoutKeys(text)
      .replace(CREDENTIALS, `$1 (masked)`)
      .replace(TOKENS, `$1 ${MASK}`)
      .replace(MEDIA_KEYS, `$1 ${MASK}`),
  );

/** Masked text of a message for display. */
export const shownText = (bytes: Uint8Array): string =>
  masked(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));

/** Masked message as bytes. Content-Length matches the masked body, so that capture readers find its end. */
export const maskedMessage = (bytes: Uint8Array): Buffer => withLength(shownText(bytes));

/** The message with only the pressed keys masked. */
export function messageWithoutKeys(bytes: Uint8Array): Uint8Array {
  // Decoding would change other bytes, and most messages have no keys.
  const text = asBuffer(bytes).toString('latin1');
  const shown = withoutKeys(text);
  return shown === text ? bytes : withLength(shown);
}

function withLength(text: string): Buffer {
  const bodyAt = text.indexOf('\r\n\r\n');
  if (bodyAt === -1) return Buffer.from(text);
  const body = Buffer.from(text.slice(bodyAt + 4));
  const head = text
    .slice(0, bodyAt)
    .replace(/^(content-length|l)([ \t]*:[ \t]*)\d+/im, `$1$2${body.length}`);
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
}
