/**
 * The demo bot of this node. Each node runs one on a loopback port chosen by the system. Applications use the address of
 * a host that never exists (RFC 6761 §6.4), which each node maps to its own demo.
 */
import { err } from '../../base/result.ts';
import type { HttpCaller } from '../../domain/callback/needs.ts';

export const DEMO_ORIGIN = 'https://demo.invalid';
/** Every customer request is tested. A regular expression is much cheaper than parsing the URL. */
const AT_DEMO = /^https:\/\/demo\.invalid(?=[/?#]|$)/i;

export class DemoApplication {
  #origin: string | undefined;

  /** Sets `origin`, the `http://host:port` of the demo's listener. */
  listensAt(origin: string): void {
    this.#origin = origin;
  }

  /** Whether an HTTP or WebSocket URL addresses the demo. */
  isAt(url: URL): boolean {
    return this.#origin !== undefined && url.host === new URL(this.#origin).host;
  }

  /** Routes requests for the demo to it, and passes all other requests to `http`. */
  before<Http extends HttpCaller>(http: Http): Http {
    return {
      ...http,
      send: (request, signal) => {
        const { url } = request;
        if (!AT_DEMO.test(url)) return http.send(request, signal);
        if (this.#origin === undefined) return Promise.resolve(err({ ...IS_OFF, durationMs: 0 }));
        return http.send({ ...request, url: this.#origin + url.slice(DEMO_ORIGIN.length) }, signal);
      },
    };
  }
}

const IS_OFF = { kind: 'connect', detail: 'the demo is off at this node (demo: false)' } as const;
