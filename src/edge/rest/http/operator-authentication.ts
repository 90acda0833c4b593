import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from './credentials.ts';

/**
 * Access to metrics and to the operator's part of the API page. `token`: requires the operator's token. `open`: public.
 * `direct`: clients without a proxy in between (the listener is bound to loopback).
 */
export type OperatorPages = 'token' | 'direct' | 'open';

export interface OperatorAuthenticationDeps {
  /** Comparisons in constant time. */
  readonly isAdminToken: (token: string) => boolean;
  readonly isScrapeToken: (token: string) => boolean;
  readonly operatorPages: OperatorPages;
}

/** Headers that proxies add. A request with one of them does not come from the address of its connection. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Accepts the operator's token as a bearer token, or as the Basic password with any user name, which browsers support. */
export class OperatorAuthentication {
  readonly #deps: OperatorAuthenticationDeps;

  constructor(deps: OperatorAuthenticationDeps) {
    this.#deps = deps;
  }

  isOpen(headers: IncomingHttpHeaders): boolean {
    const { operatorPages } = this.#deps;
    if (operatorPages !== 'direct') return operatorPages === 'open';
    return PROXY_HEADERS.every((name) => headers[name] === undefined);
  }

  takes(credentials: Credentials, isScrape: boolean): boolean {
    const token = credentials.kind === 'bearer' ? credentials.token : credentials.authToken;
    return this.#deps.isAdminToken(token) || (isScrape && this.#deps.isScrapeToken(token));
  }
}
