import { asBuffer } from '../parse.ts';

/** Unverified properties of a message, read from its text to prioritize it. */
export interface QuickParse {
  /** Method; empty for a response. */
  readonly method: string;
  /** True if To has a tag: a request inside a dialog. */
  readonly inDialog: boolean;
  /** Value of the Authorization header field. */
  readonly authorization: string | undefined;
}

/** Whether the message asks for a new call: an INVITE outside of a dialog. */
export const isNewCall = ({ method, inDialog }: QuickParse): boolean =>
  method === 'INVITE' && !inDialog;

const METHOD_LENGTH = 16;
const TO_WITH_TAG = /\n(?:to|t)[ \t]*:[^\n]*;[ \t]*tag[ \t]*=/i;
const AUTHORIZATION = /\nauthorization[ \t]*:[ \t]*([^\r\n]*)/i;
const HEAD_BYTES = 4096;

/** Returns undefined if the bytes do not start like SIP. Folded lines are not unfolded. */
export function quickParse(bytes: Uint8Array): QuickParse | undefined {
  const buffer = asBuffer(bytes);
  const start = /^[\r\n]*([A-Za-z0-9\-.!%*_+`'~]+)( |\/2\.0 )/.exec(
    buffer.toString('latin1', 0, METHOD_LENGTH),
  );
  if (start === null) return undefined;
  const bodyAt = buffer.indexOf('\n\r\n');
  const end = Math.min(bodyAt === -1 ? buffer.length : bodyAt, HEAD_BYTES);
  const head = buffer.toString('latin1', 0, end);
  return {
    method: start[2] === ' ' ? (start[1] ?? '') : '',
    inDialog: TO_WITH_TAG.test(head),
    authorization: AUTHORIZATION.exec(head)?.[1],
  };
}
