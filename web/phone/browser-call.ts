/** One call of the browser phone: the state machine of its SIP session, its media and its controls. */
import {
  Invitation,
  RequestPendingError,
  type Session,
  SessionState,
  type URI,
  UserAgent,
} from 'sip.js';
import type { OutgoingRequestDelegate } from 'sip.js/lib/core/index.js';
import { SessionDescriptionHandler, type SessionManager } from 'sip.js/lib/platform/web/index.js';
import { DtmfQueue } from './dtmf-queue.ts';
import { type EndFacts, endReason } from './end-reason.ts';
import { mediaFlow, NO_MEDIA } from './measure.ts';
import type { CallState, PhoneCall } from './phone-api.d.ts';

/** Callbacks of a call to its phone. */
export interface CallHost {
  readonly manager: SessionManager;
  uriOf(target: string): string;
  /** Holds every other call: at most one call is off hold. */
  holdOthers(call: BrowserCall): Promise<void>;
  /** State, mute or the name of the other side has changed. */
  changed(call: BrowserCall): void;
  reported(call: BrowserCall, what: 'ringing' | 'answered' | 'active' | 'ended'): void;
  transferred(status: number, reason: string): void;
}

const BUSY_HERE = 486;
const MEDIA_CHECK_MS = 100;
/** Media counts as flowing 2 s after the first packet sent, even if the other side sends none (it may be silent). */
const ONE_WAY_MS = 2000;
/** A re-INVITE that another one delays is tried again after this time, at most so often. */
const PENDING_MS = 300;
const PENDING_TRIES = 20;

let lastId = 0;

export class BrowserCall implements PhoneCall {
  readonly id: string;
  readonly direction: PhoneCall['direction'];
  readonly session: Session;
  readonly #host: CallHost;
  readonly #dtmf = new DtmfQueue(() => this.#dtmfSender());
  readonly #end: { -readonly [Name in keyof EndFacts]: EndFacts[Name] } = {
    own: undefined,
    status: undefined,
    request: undefined,
    error: undefined,
  };
  #rings = false;
  #answers = false;
  #flows = false;
  #sendsSinceMs: number | undefined;
  #lost = false;
  #held = false;
  #muted = false;
  #ended = false;
  #mediaTimer: ReturnType<typeof setInterval> | undefined;

  constructor(session: Session, host: CallHost) {
    lastId += 1;
    this.id = String(lastId);
    this.session = session;
    this.direction = session instanceof Invitation ? 'inbound' : 'outbound';
    this.#host = host;
    session.delegate = {
      ...session.delegate,
      onBye: (bye) => {
        this.#end.request = { method: 'BYE', reason: bye.request.getHeader('Reason') ?? '' };
        void bye.accept();
      },
      onCancel: ({ request }) => {
        this.#end.request = { method: 'CANCEL', reason: request.getHeader('Reason') ?? '' };
      },
    };
    session.stateChange.addListener((state) => this.#changed(state));
  }

  get from(): string {
    return this.session.remoteIdentity.uri.user ?? '';
  }

  get displayName(): string {
    return this.session.remoteIdentity.displayName;
  }

  get state(): CallState {
    if (this.#ended) return 'ended';
    if (this.session.state !== SessionState.Established) {
      if (this.direction === 'inbound') return this.#answers ? 'connecting' : 'incoming';
      return this.#rings ? 'ringing' : 'calling';
    }
    if (this.#held) return 'held';
    if (!this.#flows) return 'connecting';
    return this.#lost ? 'reconnecting' : 'active';
  }

  get isEstablished(): boolean {
    return !this.#ended && this.session.state === SessionState.Established;
  }

  get isHeld(): boolean {
    return this.#held;
  }

  get muted(): boolean {
    return this.#muted;
  }

  get endReason(): string {
    return this.#ended ? endReason(this.#end) : '';
  }

  get peer(): RTCPeerConnection | undefined {
    return this.#description?.peerConnection;
  }

  async answer(): Promise<void> {
    if (this.state !== 'incoming') throw new Error('the call does not ring here');
    this.#answers = true;
    this.#host.changed(this);
    await this.#host.holdOthers(this);
    await this.#keepingError(this.#host.manager.answer(this.session));
  }

  async decline(): Promise<void> {
    const { session } = this;
    if (!(session instanceof Invitation) || this.#ended || this.isEstablished) {
      throw new Error('the call does not ring here');
    }
    this.#end.own = 'decline';
    await session.reject({ statusCode: BUSY_HERE });
  }

  async hangup(): Promise<void> {
    if (this.#ended) return;
    if (this.state === 'incoming') {
      await this.decline();
      return;
    }
    this.#end.own = 'hangup';
    await this.#host.manager.hangup(this.session);
  }

  async hold(): Promise<void> {
    if (!this.isEstablished || this.#held) return;
    this.#held = true;
    this.#host.changed(this);
    await this.#negotiateHold();
  }

  async resume(): Promise<void> {
    if (!this.isEstablished || !this.#held) return;
    await this.#host.holdOthers(this);
    this.#held = false;
    this.#host.changed(this);
    await this.#negotiateHold();
  }

  mute(muted: boolean): void {
    this.#muted = muted;
    this.enableTracks();
    this.#host.changed(this);
  }

  sendDtmf(digits: string): void {
    if (this.#ended) throw new Error('the call has ended');
    this.#dtmf.add(digits);
  }

  async transfer(target: string | PhoneCall): Promise<void> {
    await this.session.refer(this.#referTarget(target), {
      requestDelegate: {
        onReject: ({ message }) =>
          this.#host.transferred(message.statusCode ?? 0, message.reasonPhrase ?? ''),
      },
      onNotify: (notification) => {
        void notification.accept();
        const [, status = '0', reason = ''] =
          /^SIP\/2\.0 (\d{3}) ?(.*)/.exec(notification.request.body) ?? [];
        this.#host.transferred(Number(status), reason);
      },
    });
  }

  /** A provisional response to the INVITE of this phone. */
  progressed(): void {
    if (this.#ended || this.#rings) return;
    this.#rings = true;
    this.#host.changed(this);
    this.#host.reported(this, 'ringing');
  }

  /** The INVITE of this phone was refused. */
  refused({ message }: Parameters<NonNullable<OutgoingRequestDelegate['onReject']>>[0]): void {
    this.#end.status = { code: message.statusCode ?? 0, phrase: message.reasonPhrase ?? '' };
  }

  /** The connection to the service is lost, or the browser cannot continue. */
  failed(error: unknown): void {
    this.#end.error ??= error;
  }

  /** The service has answered a re-INVITE. A refused hold still cuts the audio here; a refused resume leaves the call held. */
  holdSettled(held: boolean): void {
    if (held && !this.#held) {
      this.#held = true;
      this.#host.changed(this);
    }
    this.enableTracks();
  }

  /** The media path is lost, or found again. */
  interrupted(lost: boolean): void {
    this.#lost = lost;
    this.#host.changed(this);
  }

  /** Ends the call while the page closes: its messages leave in the same turn. */
  leave(): void {
    this.#end.own = 'hangup';
    void this.#host.manager.hangup(this.session).catch(() => undefined);
  }

  /** The microphone is on only while the call is off hold and not muted; a held call is not heard. */
  enableTracks(): void {
    const description = this.#description;
    if (description?.peerConnection === undefined) return;
    description.enableReceiverTracks(!this.#held);
    description.enableSenderTracks(!this.#held && !this.#muted);
  }

  get #description(): SessionDescriptionHandler | undefined {
    const { sessionDescriptionHandler: description } = this.session;
    return description instanceof SessionDescriptionHandler ? description : undefined;
  }

  /** A digit is sent once media flows: before, the other side would lose it. */
  #dtmfSender(): RTCDTMFSender | undefined {
    if (!this.#flows || this.#held) return undefined;
    const senders = this.peer?.getSenders() ?? [];
    return senders.find(({ dtmf }) => dtmf !== null)?.dtmf ?? undefined;
  }

  #referTarget(target: string | PhoneCall): URI | Session {
    if (target instanceof BrowserCall) return target.session;
    const uri = typeof target === 'string' && UserAgent.makeURI(this.#host.uriOf(target));
    if (!uri) throw new Error('enter a number, a name or a SIP address');
    return uri;
  }

  async #keepingError(action: Promise<unknown>): Promise<void> {
    try {
      await action;
    } catch (error) {
      this.failed(error);
      throw error;
    }
  }

  /** A re-INVITE says whether this side sends. Tracks change first: a held call has no open microphone in the meantime. */
  async #negotiateHold(): Promise<void> {
    const { manager } = this.#host;
    for (let tries = 1; ; tries += 1) {
      this.enableTracks();
      if (!this.isEstablished) return;
      try {
        await (this.#held ? manager.hold(this.session) : manager.unhold(this.session));
        this.enableTracks();
        return;
      } catch (error) {
        this.enableTracks();
        if (!(error instanceof RequestPendingError) || tries === PENDING_TRIES) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, PENDING_MS));
    }
  }

  #changed(state: SessionState): void {
    if (state === SessionState.Established) {
      this.enableTracks();
      this.#mediaTimer = setInterval(() => void this.#lookForMedia(), MEDIA_CHECK_MS);
      this.#host.reported(this, 'answered');
    }
    const isOver = state === SessionState.Terminating || state === SessionState.Terminated;
    if (isOver && !this.#ended) {
      this.#ended = true;
      clearInterval(this.#mediaTimer);
      // A canceled session closes its media with the last response; the microphone must not stay open until then.
      for (const { track } of this.peer?.getSenders() ?? []) track?.stop();
      // SIP.js reports a refusal after the state change that it causes.
      setTimeout(() => this.#host.reported(this, 'ended'));
    }
    this.#host.changed(this);
  }

  async #lookForMedia(): Promise<void> {
    const { peer } = this;
    const { sends, receives } = peer === undefined ? NO_MEDIA : await mediaFlow(peer);
    if (!sends || this.#flows || this.#ended) return;
    this.#sendsSinceMs ??= performance.now();
    if (!receives && performance.now() - this.#sendsSinceMs < ONE_WAY_MS) return;
    clearInterval(this.#mediaTimer);
    this.#flows = true;
    this.#host.changed(this);
    this.#host.reported(this, 'active');
    this.#dtmf.pump();
  }
}
