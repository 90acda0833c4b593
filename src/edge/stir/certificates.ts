/**
 * Certificates that sign caller numbers: downloads them, validates them against the operator's anchors, and caches them
 * (RFC 8226 §8, §10).
 */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { RecentMap } from '../../base/recent-map.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { ProofFault } from './passport.ts';
import { type TnAuthority, tnAuthority } from './tn-auth-list.ts';

interface SigningCertificate {
  readonly key: KeyObject;
  readonly authority: TnAuthority;
  /** Validity period, ms since the epoch. */
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Downloads a URL through the egress guard. Returns the bytes or the reason of a failure. */
export type FetchCertificate = (url: string) => Promise<Result<Uint8Array, string>>;

export interface CertificateNeeds {
  /** Trusted authorities. */
  readonly anchors: readonly X509Certificate[];
  readonly fetch: FetchCertificate;
  readonly wallMs: () => number;
}

const MOST_KEPT = 1000;
/** Maximum number of simultaneous downloads. Further Identity headers stay unverified. */
const MOST_FETCHED = 100;
const RETENTION_MS = 3_600_000;
const FAILURE_KEPT_MS = 30_000;
const LONGEST_CHAIN = 5;
const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const CURVE = 'prime256v1';

type Found = Result<SigningCertificate, ProofFault>;

export class Certificates {
  readonly #needs: CertificateNeeds;
  readonly #retained = new RecentMap<{ readonly found: Found; readonly untilMs: number }>(
    MOST_KEPT,
  );
  readonly #requested = new Map<string, Promise<Found>>();

  constructor(needs: CertificateNeeds) {
    this.#needs = needs;
  }

  /**
   * Returns the certificate of a URL. Fails with 436 if it cannot be downloaded or parsed, 437 if no trusted authority
   * issued it. Never rejects.
   */
  async at(url: string): Promise<Found> {
    const retained = this.#retained.get(url);
    if (retained !== undefined && retained.untilMs > this.#needs.wallMs()) return retained.found;
    const underWay = this.#requested.get(url);
    if (underWay !== undefined) return underWay;
    if (this.#requested.size >= MOST_FETCHED)
      return unfetched('too many certificate downloads are running');
    const found = this.#fetch(url).finally(() => this.#requested.delete(url));
    this.#requested.set(url, found);
    return found;
  }

  async #fetch(url: string): Promise<Found> {
    const fetched = await this.#needs.fetch(url);
    const found = fetched.ok ? this.#judge(fetched.value) : unfetched(fetched.error);
    const keepMs = found.ok ? RETENTION_MS : FAILURE_KEPT_MS;
    this.#retained.set(url, { found, untilMs: this.#needs.wallMs() + keepMs });
    return found;
  }

  #judge(bytes: Uint8Array): Found {
    const chain = certificatesIn(bytes);
    const [leaf, ...others] = chain ?? [];
    if (leaf === undefined) return unfetched('the URL in info has no certificate');
    const key = keyOf(leaf);
    if (key?.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== CURVE)
      return unsupported('the certificate has no P-256 key');
    const authority = tnAuthority(leaf.raw);
    if (authority === undefined)
      return unsupported('the TNAuthList of the certificate cannot be parsed');
    const path = pathToAnchor(leaf, others, this.#needs.anchors);
    if (path === undefined) return unsupported('no trusted authority has issued it');
    const fromMs = Math.max(...path.map(({ validFrom }) => Date.parse(validFrom)));
    const untilMs = Math.min(...path.map(({ validTo }) => Date.parse(validTo)));
    return ok({ key, authority, fromMs, untilMs });
  }
}

/** Parses PEM (leaf first) or a single DER certificate. Returns undefined for other input. */
function certificatesIn(bytes: Uint8Array): readonly X509Certificate[] | undefined {
  try {
    const blocks = Buffer.from(bytes).toString('latin1').match(PEM);
    if (blocks === null) return [new X509Certificate(bytes)];
    return blocks.slice(0, LONGEST_CHAIN).map((block) => new X509Certificate(block));
  } catch {
    return undefined;
  }
}

/** Returns the chain from the leaf to an anchor, including the anchor. */
function pathToAnchor(
  leaf: X509Certificate,
  others: readonly X509Certificate[],
  anchors: readonly X509Certificate[],
): readonly X509Certificate[] | undefined {
  const path = [leaf];
  for (let last = leaf; path.length <= LONGEST_CHAIN; ) {
    const anchor = anchors.find((each) => hasIssued(each, last));
    if (anchor !== undefined) return [...path, anchor];
    const next = others.find((each) => !path.includes(each) && hasIssued(each, last));
    if (next === undefined) return undefined;
    path.push(next);
    last = next;
  }
  return undefined;
}

function hasIssued(issuer: X509Certificate, issued: X509Certificate): boolean {
  const key = keyOf(issuer);
  return key !== undefined && issuer.ca && issued.checkIssued(issuer) && issued.verify(key);
}

/** Returns the public key. Undefined if it cannot be decoded, for example because its algorithm is unknown. */
function keyOf(certificate: X509Certificate): KeyObject | undefined {
  try {
    return certificate.publicKey;
  } catch {
    return undefined;
  }
}

const unfetched = (why: string): Found => err({ status: 436, why });
const unsupported = (why: string): Found => err({ status: 437, why });
