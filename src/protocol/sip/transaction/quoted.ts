/** Which transaction a request of ours belongs to of which only the beginning is there, as ICMP quotes it. */
export interface QuotedRequest {
  readonly method: string;
  readonly branch: string;
}

const REQUEST = /^([A-Z]{3,16}) [^\r\n]* SIP\/2\.0\r\n/;
const BRANCH = /^Via: [^\r\n]*;branch=([^;\r\n]+)(?=[;\r])/m;

/** Undefined: no request, or too little of it is quoted (RFC 792 demands eight bytes only). */
export function requestQuoted(start: string): QuotedRequest | undefined {
  const method = REQUEST.exec(start)?.[1];
  const branch = BRANCH.exec(start)?.[1];
  return method === undefined || branch === undefined ? undefined : { method, branch };
}
