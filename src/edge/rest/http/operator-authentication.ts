import type { IncomingHttpHeaders } from 'node:http';
import type { Credentials } from './credentials.ts';

/**
 * Who may read metrics and the operator's part of the API page. `token`: who has the operator's token. `open`: everybody.
 * `direct`: everybody who asks without a proxy between (the listener is bound to loopback).
 */
export type OperatorPages = 'token' | 'direct' | 'open';

export interface OperatorAuthenticationDeps {
  /** Constant-time checks. */
  readonly isAdminToken: (token: string) => boolean;
  readonly isScrapeToken: (token: string) => boolean;
  readonly operatorPages: OperatorPages;
}

/** What proxies add: a request that bears one comes from elsewhere, whatever the address of its connection. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** The operator's token comes as bearer, or as the password of Basic with any name, which is what a browser asks for. */
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
