import { unbracketed } from '../../../base/host.ts';

export interface Alias {
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 5061;
const HEAD_BYTES = 4096;
const TOP_VIA =
  /\n(?:via|v)[ \t]*:[ \t]*SIP[ \t]*\/[ \t]*2\.0[ \t]*\/[ \t]*TLS[ \t]+(\[[^\]]+\]|[^\s:;,]+)(?::(\d{1,5}))?([^\r\n,]*)/i;

/** Port that the sender of a request announces for reuse of its connection: `alias` in its Via (RFC 5923 §5). */
export function aliasOf(bytes: Uint8Array): Alias | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES));
  const via = TOP_VIA.exec(head.toString('latin1'));
  if (via === null || !/;[ \t]*alias[ \t]*(?:;|$)/i.test(via[3] ?? '')) return undefined;
  return {
    host: unbracketed(via[1] ?? ''),
    port: via[2] === undefined ? DEFAULT_PORT : Number(via[2]),
  };
}
