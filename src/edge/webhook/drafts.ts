/**
 * Documents under test in the console. Their addresses use a host that never exists (RFC 6761 §6.4), so only this service can
 * read them. Keeps the latest drafts in memory.
 */
import { type Random, token } from '../../base/ids.ts';
import { RecentMap } from '../../base/recent-map.ts';
import { ok } from '../../base/result.ts';
import type { HttpCaller } from '../../domain/callback/needs.ts';

const ORIGIN = 'https://playground.invalid';
const TOKEN_BITS = 128;
const RETAINED = 200;

export class Drafts {
  readonly #random: Random;
  readonly #documents = new RecentMap<string>(RETAINED);

  constructor(random: Random) {
    this.#random = random;
  }

  /** Stores a draft and returns its URL. */
  keep(xml: string): string {
    const url = `${ORIGIN}/${token(this.#random, TOKEN_BITS)}`;
    this.#documents.set(url, xml);
    return url;
  }

  /** Answers requests for drafts, and passes all other requests to `http`. */
  before<Http extends HttpCaller>(http: Http): Http {
    return {
      ...http,
      send: (request, signal) => {
        const { url } = request;
        if (!url.startsWith(ORIGIN)) return http.send(request, signal);
        const xml = this.#documents.get(url.split('?', 1)[0] ?? '');
        if (xml === undefined) return http.send(request, signal);
        const reply = { status: 200, contentType: 'application/xml', body: xml, durationMs: 0 };
        return Promise.resolve(ok(reply));
      },
    };
  }
}
