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
  CallLog,
  type CallLogs,
  type CallNeeds,
  type CallPrice,
  type CallTerms,
} from '../call/call.ts';
import {
  type CodecPreferences,
  type Media,
  type SrtpPolicy,
  type SrtpRule,
  srtpRule,
} from '../call/needs.ts';
import type { CallbackTarget } from '../callback/types.ts';
import type { NodeLegs } from '../interpreter/interpreter.ts';
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
  readonly rtpSources?: CallNeeds['rtpSources'];
}

/** Makes calls: what they cost, and what they are made of. */
export class CallFactory implements NodeLegs {
  readonly #needs: FactoryNeeds;
  // The same for all calls.
  readonly #sessionId = (): number => 1 + this.#needs.random.integer(SESSION_IDS);
  readonly #bytes = (length: number): Uint8Array => this.#needs.random.bytes(length);
  readonly #srtp: SrtpRule;

  constructor(needs: FactoryNeeds) {
    this.#needs = needs;
    this.#srtp = srtpRule(needs.srtp, { secured: false });
  }

  newCallUuid(): CallUuid {
    return newCallUuid(this.#needs.random, this.#needs.clock.wallMs());
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
    const log = this.#needs.logs.open(identity.callUuid, identity.accountId);
    log.add('call', `${identity.facts.direction} call`, {
      from: identity.facts.from,
      to: identity.facts.to,
      context: identity.context,
    });
    return new Call({ identity, price, hangupTarget }, this.#around(log, parent));
  }

  visit(call: Call): Call {
    const { identity, price } = call;
    const log = this.#unkeptLog(identity, () => undefined);
    const terms = {
      identity: {
        ...identity,
        callUuid: this.newCallUuid(),
        parentCallUuid: call.uuid,
        facts: { ...identity.facts, direction: 'outbound' as const },
      },
      price: this.free(price.currency),
      hangupTarget: undefined,
    };
    return new Call(terms, { ...this.#around(log, call), ...BETWEEN_NODES });
  }

  guest(identity: CallIdentity, { currency, keypadEvents, noted }: GuestTerms): Call {
    const log = this.#unkeptLog(identity, noted);
    const terms = { identity, price: this.free(currency), hangupTarget: undefined };
    return new GuestCall(
      terms,
      { ...this.#around(log, undefined), ...BETWEEN_NODES },
      keypadEvents,
    );
  }

  #unkeptLog({ callUuid, accountId }: CallIdentity, noted: GuestTerms['noted']): CallLog {
    return new PassedLog({ callUuid, accountId }, this.#needs.clock, noted);
  }

  #around(log: CallLog, parent: Call | undefined): CallNeeds {
    const { media, clock, mediaTimeoutMs, judgeRtp, rtpSources, codecs } = this.#needs;
    return {
      media,
      clock,
      sessionId: this.#sessionId,
      bytes: this.#bytes,
      srtp: this.#srtp,
      codecs,
      mediaTimeoutMs,
      ...(parent === undefined ? {} : { near: () => parent.mediaIfOpen }),
      judgeRtp,
      rtpSources,
      log,
    };
  }
}

/** Another node is believed where its media is; when it falls silent, it is gone. */
const BETWEEN_NODES = {
  judgeRtp: () => ({ kind: 'send' }) as const,
  mediaTimeoutMs: 3000,
};

type GuestTerms = Parameters<NodeLegs['guest']>[1];

class GuestCall extends Call {
  readonly #keypadEvents: boolean;

  constructor(terms: CallTerms, needs: CallNeeds, keypadEvents: boolean) {
    super(terms, needs);
    this.#keypadEvents = keypadEvents;
  }

  /** How they come to its own node: from there to here they are events always. */
  override get keypadEvents(): boolean {
    return this.#keypadEvents;
  }
}

/** A timeline that is kept elsewhere. */
class PassedLog extends CallLog {
  readonly #pass: GuestTerms['noted'];

  constructor(
    of: Pick<CallLog, 'callUuid' | 'accountId'>,
    clock: Clock,
    pass: GuestTerms['noted'],
  ) {
    super(of, 1, { clock, closed: () => undefined });
    this.#pass = pass;
  }

  override add(...entry: Parameters<CallLog['add']>): void {
    const [kind, text, facts = {}] = entry;
    this.#pass(kind, text, facts);
  }
}
