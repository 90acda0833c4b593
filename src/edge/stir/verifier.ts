/** Verifies caller numbers as a verification service (RFC 8224 §6.2, RFC 8588). */
import { compactVerify } from 'jose';
import { err, ok, type Result } from '../../base/result.ts';
import type { CallerClaim, CallerProof } from '../../domain/call/needs.ts';
import { type CertificateNeeds, Certificates } from './certificates.ts';
import {
  type Identities,
  type IdentityField,
  invalid,
  isUnderstood,
  type Passport,
  type ProofFault,
  plainTn,
  readIdentity,
  readPassport,
} from './passport.ts';
import { speaksFor } from './tn-auth-list.ts';

export interface VerifierNeeds extends CertificateNeeds {
  /** Maximum difference between a proof's issue time and now in either direction, seconds (RFC 8224 §6.2.1: 60). */
  readonly freshnessS: number;
}

const MS_PER_SECOND = 1000;
/** Maximum number of Identity header fields checked per call. */
const MOST_FIELDS = 4;

export class Verifier {
  readonly #needs: VerifierNeeds;
  readonly #certificates: Certificates;

  constructor(needs: VerifierNeeds) {
    this.#needs = needs;
    this.#certificates = new Certificates(needs);
  }

  /** Verifies the caller. One valid proof suffices. Never rejects. */
  async verify(claim: CallerClaim): Promise<CallerProof> {
    const fields = claim.identity.slice(0, MOST_FIELDS).map(readIdentity);
    const understood = fields.filter((field) => field === undefined || isUnderstood(field));
    let fault: ProofFault = { status: 428, why: 'the call has no Identity' };
    for (const field of understood) {
      const proved = field === undefined ? unreadable : await this.#prove(field, claim);
      if (proved.ok) return { isVerified: true, attestation: proved.value.attest };
      fault = proved.error;
    }
    return { isVerified: false, ...fault };
  }

  async #prove(field: IdentityField, claim: CallerClaim): Promise<Result<Passport, ProofFault>> {
    const passport = readPassport(field, {
      orig: claim.orig[0] ?? '',
      dest: claim.dest[0] ?? '',
      dateS: dateOf(claim),
    });
    if (!passport.ok) return passport;
    const { orig, dest, iat, x5u, token } = passport.value;
    const { freshnessS } = this.#needs;
    const ageS = this.#needs.wallMs() / MS_PER_SECOND - iat;
    if (Math.abs(ageS) > freshnessS) return err(STALE);
    if (!names(orig, claim.orig)) return invalid('orig is not the caller');
    if (!names(dest, claim.dest)) return invalid('dest is not the called number');
    const certificate = await this.#certificates.at(x5u);
    if (!certificate.ok) return certificate;
    const { key, authority, fromMs, untilMs } = certificate.value;
    const nowMs = this.#needs.wallMs();
    // The signer's clock may be slightly ahead.
    if (nowMs < fromMs - freshnessS * MS_PER_SECOND || nowMs > untilMs)
      return err({ status: 437, why: 'the certificate is not valid at this time' });
    if (!orig.tn.every((number) => speaksFor(authority, number)))
      return err({ status: 437, why: 'the certificate does not cover the calling number' });
    try {
      await compactVerify(token, key, { algorithms: ['ES256'] });
    } catch {
      return invalid('the signature is invalid');
    }
    return ok(passport.value);
  }
}

function dateOf({ date }: CallerClaim): number | undefined {
  const ms = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(ms) ? undefined : ms / MS_PER_SECOND;
}

/** RFC 8224 §6.2.2 gives 403 this reason phrase. */
const STALE: ProofFault = {
  status: 403,
  phrase: 'Stale Date',
  why: 'iat is too far from the current time',
};

const unreadable = invalid('the Identity cannot be parsed');

/** A telephone number or tel URI. Other URIs are named together with their user. */
const TELEPHONE_NUMBER = /^(?:tel:)?(\+?[0-9*#().\s-]+)(?:;|$)/i;

const numberIn = (text: string): string => plainTn(TELEPHONE_NUMBER.exec(text)?.[1] ?? '');

/** Whether one of the identities is among those named in the message. */
function names({ tn, uri }: Identities, named: readonly string[]): boolean {
  const numbers = new Set(named.map(numberIn).filter((number) => number !== ''));
  const uris = new Set(named.map((text) => text.toLowerCase()));
  return (
    tn.some((number) => numbers.has(number)) || uri.some((text) => uris.has(text.toLowerCase()))
  );
}
