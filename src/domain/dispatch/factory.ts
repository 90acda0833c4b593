import { type Clock, wallUs } from '../../base/clock.ts';
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

/** Upper bound of random session IDs in `o=` lines; any number below 2^31 is valid (RFC 8866 §5.2). */
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
  readonly resolveHost?: CallNeeds['resolveHost'];
  readonly rtpSources?: CallNeeds['rtpSources'];
  readonly lease?: CallNeeds['lease'];
}

/** Creates calls and determines their prices. */
export class CallFactory implements NodeLegs {
  readonly #needs: FactoryNeeds;
  // Shared by all calls.
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
    return wallUs(this.#needs.clock);
  }

  /** Price of a call; undefined if the rate book has no price for it in the account's currency. */
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

  /** Zero price, for calls that are refused before any cost. */
  free(currency: string): CallPrice {
    return {
      currency,
      perMinute: ZERO,
      pulseMs: DEFAULT_PULSE_MS,
      streamPerMinute: ZERO,
      streamPulseMs: DEFAULT_PULSE_MS,
    };
  }

  /** Creates a call. `hangupTarget`: recipient of the hangup callback. `parent`: call that this one will be bridged with. */
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

  joinRemote(call: Call): Call {
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
    const { media, clock, mediaTimeoutMs, judgeRtp, resolveHost, rtpSources, codecs, lease } =
      this.#needs;
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
      resolveHost,
      rtpSources,
      lease,
      log,
    };
  }
}

/** Leg options between nodes: other nodes are trusted, and a short media timeout detects failed nodes. */
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

  /** Key transport at the home node; between nodes, keys are always events. */
  override get keypadEvents(): boolean {
    return this.#keypadEvents;
  }
}

/** Timeline that is forwarded to another node. */
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
