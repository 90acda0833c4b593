import type { Clock } from '../../base/clock.ts';
import {
  type CallUuid,
  newCallUuid,
  newRequestUuid,
  type Random,
  type RequestUuid,
} from '../../base/ids.ts';
import { ZERO } from '../../base/money.ts';
import type { Account } from '../account/types.ts';
import {
  Call,
  type CallIdentity,
  type CallLogs,
  type CallNeeds,
  type CallPrice,
} from '../call/call.ts';
import { type CodecPreferences, type Media, type SrtpPolicy, srtpRule } from '../call/needs.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Rate } from '../ledger/types.ts';

/** `o=` session ids: any number below 2^31 will do (RFC 8866 §5.2). */
const SESSION_IDS = 2_000_000_000;
const DEFAULT_PULSE_MS = 60_000;

export interface FactoryNeeds {
  readonly media: Media;
  readonly ledger: Ledger;
  readonly logs: CallLogs;
  readonly clock: Clock;
  readonly random: Random;
  readonly mediaTimeoutMs: number;
  readonly srtp: SrtpPolicy;
  readonly codecs: CodecPreferences;
  readonly judgeRtp: CallNeeds['judgeRtp'];
}

/** Makes calls: what they cost, and what they are made of. */
export class CallFactory {
  readonly #needs: FactoryNeeds;

  constructor(needs: FactoryNeeds) {
    this.#needs = needs;
  }

  newCallUuid(): CallUuid {
    return newCallUuid(this.#needs.random);
  }

  newRequestUuid(): RequestUuid {
    return newRequestUuid(this.#needs.random);
  }

  nowUs(): number {
    return Math.round(this.#needs.clock.wallMs() * 1000);
  }

  /** Undefined: calls of that kind to that number are not sold in the account's currency. */
  price(owner: Account, direction: Rate['direction'], number: string): CallPrice | undefined {
    const { rateBook } = this.#needs.ledger;
    const voice = rateBook.quote(direction, number, owner.authId, owner.currency);
    if (voice === undefined) return undefined;
    const stream = rateBook.quote('stream', '', owner.authId, owner.currency);
    return {
      currency: owner.currency,
      perMinute: voice.perMinute,
      pulseMs: voice.pulseMs,
      streamPerMinute: stream?.perMinute ?? ZERO,
      streamPulseMs: stream?.pulseMs ?? DEFAULT_PULSE_MS,
    };
  }

  /** What a call costs that is refused before it could cost anything. */
  free(currency: string): CallPrice {
    return {
      currency,
      perMinute: ZERO,
      pulseMs: DEFAULT_PULSE_MS,
      streamPerMinute: ZERO,
      streamPulseMs: DEFAULT_PULSE_MS,
    };
  }

  /** `hangupTarget`: who is told of its end. `parent`: the call that it is made for, and will speak with. */
  create(
    identity: CallIdentity,
    price: CallPrice,
    hangupTarget?: CallbackTarget,
    parent?: Call,
  ): Call {
    const { media, logs, clock, random, mediaTimeoutMs, judgeRtp, srtp, codecs } = this.#needs;
    const log = logs.open(identity.callUuid, identity.accountId);
    log.add('call', `${identity.facts.direction} call`, {
      from: identity.facts.from,
      to: identity.facts.to,
      context: identity.context,
    });
    return new Call(
      { identity, price, hangupTarget },
      {
        media,
        clock,
        sessionId: () => 1 + random.integer(SESSION_IDS),
        bytes: (length) => random.bytes(length),
        srtp: srtpRule(srtp, { secured: false }),
        codecs,
        mediaTimeoutMs,
        ...(parent === undefined ? {} : { near: () => parent.mediaIfOpen }),
        judgeRtp,
        log,
      },
    );
  }
}
