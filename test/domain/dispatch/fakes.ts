/** Scripted phones and carriers. */
import type {
  InviteOptions,
  Leg,
  LegEnd,
  OutboundLegEvents,
  OutboundTarget,
  ReferCommand,
  ReferEvents,
  Signalling,
} from '../../../src/domain/call/needs.ts';
import { settle } from '../../sim/clock.ts';
import { SDP } from '../interpreter/scene.ts';

/** Sent INVITE, with methods for its recipient's responses. */
export class Invite implements Leg {
  readonly id = '';
  readonly sipCallId: string;
  readonly target: OutboundTarget;
  readonly options: InviteOptions;
  readonly atMs: number;
  /** Cause with which this node hung up. */
  hungUpWith: string | undefined;
  /** Received REFERs; the test provides their progress. */
  readonly refers: Array<{
    readonly command: ReferCommand;
    readonly stepped: ReferEvents['stepped'];
    isForgotten: boolean;
  }> = [];
  readonly #events: OutboundLegEvents;

  constructor(sent: {
    target: OutboundTarget;
    options: InviteOptions;
    events: OutboundLegEvents;
    atMs: number;
    index: number;
  }) {
    this.target = sent.target;
    this.options = sent.options;
    this.atMs = sent.atMs;
    this.sipCallId = `sip-${sent.index}`;
    this.#events = sent.events;
  }

  heardFrom(address: string, userAgent?: string): void {
    const source = { transport: 'udp', address, port: 5060 } as const;
    this.#events.heardFrom({ source, userAgent, isOfferedIpv6: address.includes(':') });
  }

  async rings(sdp?: string): Promise<void> {
    this.#events.progress(sdp === undefined ? 180 : 183, sdp);
    await settle();
  }

  /** Sends a provisional response without SDP. */
  async progresses(status: number): Promise<void> {
    this.#events.progress(status, undefined);
    await settle();
  }

  async answers(sdp: string | undefined = SDP): Promise<void> {
    this.#events.connected(sdp);
    await settle();
  }

  /** Sends a 200 without a body. */
  async answersWithoutSdp(): Promise<void> {
    this.#events.connected(undefined);
    await settle();
  }

  async ends(how: LegEnd['how'], status?: number, dueMs?: number): Promise<void> {
    const due = dueMs === undefined ? {} : { dueMs };
    this.#events.ended({ by: 'remote', how, status, reason: undefined, ...due });
    await settle();
  }

  refer(command: ReferCommand, { stepped }: ReferEvents): () => void {
    const refer = { command, stepped, isForgotten: false };
    this.refers.push(refer);
    return () => {
      refer.isForgotten = true;
    };
  }

  /** Reports the end of a locally ended leg too, like the real implementation. */
  hangup(cause: string): void {
    if (this.hungUpWith !== undefined) return;
    this.hungUpWith = cause;
    queueMicrotask(() =>
      this.#events.ended({ by: 'local', how: 'bye', status: undefined, reason: undefined }),
    );
  }
}

export class FakeSignalling implements Signalling {
  readonly invites: Invite[] = [];
  readonly registered = new Set<string>();
  /** Usernames whose bindings were removed, in order. */
  readonly forgotten: string[] = [];
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The newest INVITE. */
  get last(): Invite {
    const last = this.invites.at(-1);
    if (last === undefined) throw new Error('no INVITE was sent');
    return last;
  }

  invite(target: OutboundTarget, options: InviteOptions, events: OutboundLegEvents): Leg {
    const index = this.invites.length + 1;
    const invite = new Invite({ target, options, events, atMs: this.#nowMs(), index });
    this.invites.push(invite);
    return invite;
  }

  onInbound(): void {}

  isDown(): boolean {
    return false;
  }

  isRegistered(username: string): boolean {
    return this.registered.has(username);
  }

  readonly secured = new Set<string>();

  isBrowser(): boolean {
    return false;
  }

  isSecured(username: string): boolean {
    return this.secured.has(username);
  }

  forgetBindings(username: string): void {
    this.registered.delete(username);
    this.forgotten.push(username);
  }
}
