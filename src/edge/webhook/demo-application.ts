/**
 * The demo bot of this node. Each node has one, on a loopback port that its system chose: applications name it by an address that
 * stands for "the demo of the node that asks", of a host that does not exist (RFC 6761 §6.4).
 */
import { err } from '../../base/result.ts';
import type { HttpCaller } from '../../domain/callback/needs.ts';

export const DEMO_ORIGIN = 'https://demo.invalid';
/** Every request of every customer passes here: to read its URL would cost more than all the rest. */
const AT_DEMO = /^https:\/\/demo\.invalid(?=[/?#]|$)/i;

export class DemoApplication {
  #origin: string | undefined;

  /** `origin`: `http://host:port` where it listens. */
  listensAt(origin: string): void {
    this.#origin = origin;
  }

  /** Over HTTP or WebSocket. */
  isAt(url: URL): boolean {
    return this.#origin !== undefined && url.host === new URL(this.#origin).host;
  }

  /** Brings requests for the demo to it, and leaves every other one to `http`. */
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
