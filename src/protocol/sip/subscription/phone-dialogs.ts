/** Tracks the calls of users' phones for busy lamps. */
import type { Dialog } from '../dialog/dialog.ts';
import { formatUri, sipUri } from '../uri.ts';
import type { LegId, UserAgentInput, UserAgentOutput } from '../user-agent-types.ts';
import type { PhoneDialog } from './event-body.ts';

interface Known {
  readonly username: string;
  readonly direction: PhoneDialog['direction'];
  readonly remote: string;
  state: PhoneDialog['state'];
}

/** Derives the legs of registered users from the inputs and outputs of the user agent. */
export class PhoneDialogs {
  readonly #byLeg = new Map<LegId, Known>();
  readonly #byUser = new Map<string, Set<LegId>>();
  readonly #dialogOf: (leg: LegId) => Dialog | undefined;
  readonly #changed: (username: string) => void;

  constructor(dialogOf: (leg: LegId) => Dialog | undefined, changed: (username: string) => void) {
    this.#dialogOf = dialogOf;
    this.#changed = changed;
  }

  /** Records an input before the user agent handles it. */
  reported(input: UserAgentInput): void {
    if (input.kind === 'invite' && input.target.kind === 'registered') {
      const { user, host } = input.from;
      const remote = formatUri(sipUri({ user, host }));
      this.#begin(input.leg, {
        username: input.target.username,
        direction: 'recipient',
        remote,
        state: 'trying',
      });
    } else if (input.kind === 'ring') this.#move(input.leg, 'early');
    else if (input.kind === 'answer') this.#move(input.leg, 'confirmed');
  }

  said(output: UserAgentOutput): void {
    switch (output.kind) {
      case 'incoming': {
        const { username, leg, request } = output.call;
        if (username === undefined) return;
        const { uri } = request.to;
        const remote = formatUri(
          uri.kind === 'sip' ? { ...uri, headers: '', params: new Map() } : uri,
        );
        this.#begin(leg, { username, direction: 'initiator', remote, state: 'trying' });
        break;
      }
      case 'progress':
        this.#move(output.leg, 'early');
        break;
      case 'connected':
        this.#move(output.leg, 'confirmed');
        break;
      case 'ended':
        this.#end(output.leg);
        break;
    }
  }

  of(username: string): readonly PhoneDialog[] {
    return [...(this.#byUser.get(username) ?? [])].flatMap((leg) => {
      const known = this.#byLeg.get(leg);
      if (known === undefined) return [];
      const { direction, state, remote } = known;
      const dialog = this.#dialogOf(leg);
      // Our local tag is the phone's remote tag.
      const ids = dialog && {
        callId: dialog.callId,
        localTag: dialog.remoteTag,
        remoteTag: dialog.localTag,
      };
      return [{ id: `leg-${leg}`, direction, state, remote, ids }];
    });
  }

  #begin(leg: LegId, known: Known): void {
    this.#byLeg.set(leg, known);
    const legs = this.#byUser.get(known.username);
    if (legs === undefined) this.#byUser.set(known.username, new Set([leg]));
    else legs.add(leg);
    this.#changed(known.username);
  }

  #move(leg: LegId, state: PhoneDialog['state']): void {
    const known = this.#byLeg.get(leg);
    if (known === undefined || known.state === state || known.state === 'confirmed') return;
    known.state = state;
    this.#changed(known.username);
  }

  #end(leg: LegId): void {
    const known = this.#byLeg.get(leg);
    if (known === undefined) return;
    this.#byLeg.delete(leg);
    const legs = this.#byUser.get(known.username);
    legs?.delete(leg);
    if (legs?.size === 0) this.#byUser.delete(known.username);
    this.#changed(known.username);
  }
}
