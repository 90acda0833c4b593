/** Identifies the transaction of a request from its beginning, as quoted by ICMP. */
export interface QuotedRequest {
  readonly method: string;
  readonly branch: string;
}

const REQUEST = /^([A-Z]{3,16}) [^\r\n]* SIP\/2\.0\r\n/;
const BRANCH = /^Via: [^\r\n]*;branch=([^;\r\n]+)(?=[;\r])/m;

/** Returns undefined if the quote is not a request or too short (RFC 792 requires only eight bytes). */
export function requestQuoted(start: string): QuotedRequest | undefined {
  const method = REQUEST.exec(start)?.[1];
  const branch = BRANCH.exec(start)?.[1];
  return method === undefined || branch === undefined ? undefined : { method, branch };
}
