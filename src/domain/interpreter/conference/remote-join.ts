/** A call of this node in another node's conference. A bridged leg to that node carries its audio and keypad presses. */
import { ServiceError } from '../../../base/errors.ts';
import type { ConferenceInstruction } from '../../../protocol/answer-xml/answer-xml.ts';
import type { Call } from '../../call/call.ts';
import type { Signalling } from '../../call/needs.ts';
import { consentOf } from '../../call/types.ts';
import type { Bus } from '../../cluster/needs.ts';
import type { LeaveReason, Participation, VerbContext } from '../needs.ts';
import { relayDigits } from '../relay-digits.ts';
import {
  GUEST,
  type GuestFacts,
  type GuestState,
  JOIN,
  type JoinAnswer,
  type JoinRequest,
  LEAVE,
  toWire,
} from './between-nodes.ts';
import { notifyExit } from './conference-events.ts';
import { LINK_CODECS, LINK_SRTP, type NodeLegs } from './node-legs.ts';

export interface RemoteJoinNeeds {
  readonly bus: Bus;
  readonly signalling: Signalling;
  readonly legs: NodeLegs;
  readonly nodeId: string;
  /** IP address that this node sends INVITEs from. */
  readonly host: string;
  /** Called with the UUID of a conference whose node is unreachable. */
  readonly ownerLost: (conferenceUuid: string) => void;
}

/** Call and conference to connect. */
export type Wanted = Pick<JoinRequest, 'claim' | 'goesOn'> & {
  readonly instruction: ConferenceInstruction;
  readonly context: VerbContext;
};

/** Joins a conference on node `owner`. 'again': look up the owner again and retry. */
export async function joinRemote(
  owner: string,
  wanted: Wanted,
  needs: RemoteJoinNeeds,
): Promise<Participation | 'full' | 'again'> {
  const { context } = wanted;
  let link: Call | undefined;
  const ends = (): void => link?.hangup('normal', 'Platform');
  try {
    const answer = await askToJoin(owner, wanted, needs);
    if (answer.kind !== 'ticket') return 'again';
    const { ticket, uri } = answer;
    link = needs.legs.joinRemote(context.call);
    context.signal.addEventListener('abort', ends, { once: true });
    void link.ended.then(() => context.signal.removeEventListener('abort', ends));
    const up = answeredOrOver(link);
    await link.dial(needs.signalling, {
      targets: [
        { kind: 'uri', uri, isNode: true, srtp: LINK_SRTP, codecs: LINK_CODECS, maxRedirects: 0 },
      ],
      from: { user: ticket.username, displayName: '' },
      headers: [],
      auth: ticket,
    });
    if (context.signal.aborted) ends();
    const isUp = await up;
    const state = (await needs.bus.ask(owner, GUEST, [ticket.username])) as GuestState;
    if (isUp && state.kind === 'in')
      return new Visit({ owner, ticket: ticket.username, link, facts: state }, wanted, needs);
    ends();
    return state.kind === 'full' ? 'full' : 'again';
  } catch (error) {
    // The leg may be up: the other node would keep a silent member.
    ends();
    if (error instanceof ServiceError) return 'again';
    throw error;
  }
}

async function askToJoin(
  owner: string,
  { claim, goesOn, instruction, context: { call } }: Wanted,
  { bus, nodeId, host }: RemoteJoinNeeds,
): Promise<JoinAnswer> {
  const request: JoinRequest = {
    claim,
    goesOn,
    home: nodeId,
    host,
    identity: { ...call.identity, facts: call.facts },
    currency: call.price.currency,
    keypadEvents: call.keypadEvents,
    instruction: toWire(instruction),
    consent: consentOf(call)?.status,
  };
  return (await bus.ask(owner, JOIN, [request])) as JoinAnswer;
}

/** Resolves to true when the leg is answered, or to false when it ends first. */
async function answeredOrOver(link: Call): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const forget = link.observe({ answered: () => resolve(true) });
  void link.ended.then(() => resolve(false));
  const isUp = await promise;
  forget();
  return isUp;
}

interface Place {
  readonly owner: string;
  readonly ticket: string;
  readonly link: Call;
  readonly facts: GuestFacts;
}

class Visit implements Participation {
  readonly member: Participation['member'];
  readonly #place: Place;
  readonly #context: VerbContext;
  readonly #instruction: ConferenceInstruction;
  readonly #bus: Bus;
  readonly #ownerLost: RemoteJoinNeeds['ownerLost'];
  #facts: GuestFacts;
  #leaving: Promise<void> | undefined;

  constructor(place: Place, wanted: Wanted, { bus, ownerLost }: RemoteJoinNeeds) {
    const { context } = wanted;
    this.#place = place;
    this.#context = context;
    this.#instruction = wanted.instruction;
    this.#bus = bus;
    this.#ownerLost = ownerLost;
    this.#facts = place.facts;
    const { call, needs } = context;
    const { link } = place;
    const bridge = needs.media.bridge(call.media, link.media);
    const undo = [
      () => bridge.close(),
      // Presses in a conference do not count as type-ahead for later elements.
      call.digits.forgetAhead(),
      keysTo(link, call),
      relayDigits(link, call),
      needs.keeping.beforeSettling(call, () => this.leave()),
    ];
    this.member = {
      id: place.facts.memberId,
      left: link.ended.then(async () => {
        for (const one of undo) one();
        return this.#outcome();
      }),
    };
  }

  get room(): Participation['room'] {
    return this.#facts.room;
  }

  leave(): Promise<void> {
    this.#leaving ??= this.#leave();
    return this.#leaving;
  }

  async #leave(): Promise<void> {
    await this.#ask(LEAVE);
    this.#place.link.hangup('normal', 'Platform');
  }

  /** Determines why the link ended. If the owner node does not answer, the conference has moved. */
  async #outcome(): Promise<LeaveReason> {
    await this.#leaving;
    const state = this.#context.signal.aborted ? undefined : await this.#ask(GUEST);
    if (this.#context.signal.aborted) return 'callOver';
    if (state === undefined) this.#exitFromLost();
    if (state?.kind !== 'left') return 'moved';
    if (state.hangup !== undefined)
      this.#context.call.hangup(state.hangup.cause, state.hangup.source);
    // The link broke while the call is still active: rejoin.
    else if (state.reason === 'callOver') return 'moved';
    return state.reason;
  }

  /** The conference's node crashed, so this node reports that the old member ID has left. */
  #exitFromLost(): void {
    const { room, memberId: id } = this.#facts;
    const member = { context: this.#context, instruction: this.#instruction, id };
    notifyExit(room, member, { wasFirst: false, isLast: false });
    this.#ownerLost(room.uuid);
  }

  async #ask(what: string): Promise<GuestState | undefined> {
    const { owner, ticket } = this.#place;
    try {
      const state = (await this.#bus.ask(owner, what, [ticket])) as GuestState;
      if ('room' in state) this.#facts = state;
      return state;
    } catch (error) {
      if (error instanceof ServiceError) return undefined; // the node is down or unreachable
      throw error;
    }
  }
}

/** Forwards keypad presses to the link, including in-band tones. The conference's node decides how to use them. */
function keysTo(link: Call, call: Call): () => void {
  return call.digits.observe((digit) => {
    if (!link.isEnded) void link.media.sendDigits(digit, KEYS);
  });
}

const KEYS = { toneMs: 100, gapMs: 50, inband: false };
