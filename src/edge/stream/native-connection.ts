/** WebSocket of a bot on the native stream thread: address check, signature and name resolution, then the socket. */
import { isIP } from 'node:net';
import { hostOf, type ResolvedAddress } from '../../base/egress.ts';
import type { StreamSocketOptions } from '../../domain/call/needs.ts';
import type { BotConnection, BotConnectionEvents } from './dispatcher.ts';
import type { StreamSocketLimits } from './limits.ts';
import type { NativeSocketLimits } from './native.ts';
import type { Socket, Sockets } from './sockets.ts';
import { prepareUpgrade, type Upgrade, type UpgradeNeeds } from './upgrade.ts';

export interface NativeConnectionNeeds extends UpgradeNeeds {
  readonly sockets: Sockets;
  readonly socketLimits: StreamSocketLimits;
}

export class NativeConnection implements BotConnection {
  readonly #options: StreamSocketOptions;
  readonly #needs: NativeConnectionNeeds;
  #socket: Socket | undefined;
  #isDropped = false;

  constructor(options: StreamSocketOptions, needs: NativeConnectionNeeds) {
    this.#options = options;
    this.#needs = needs;
  }

  get mediaDropped(): number {
    return this.#socket?.mediaDropped ?? 0;
  }

  get wire(): Socket | undefined {
    return this.#socket;
  }

  connect(events: BotConnectionEvents): void {
    const closed = (detail: string): void => {
      if (!this.#isDropped) events.closed(detail);
    };
    this.#open({ ...events, closed }).catch((error: unknown) =>
      closed(`the connection failed: ${error}`),
    );
  }

  send(text: string): void {
    this.#socket?.send(text);
  }

  sendMedia(message: Uint8Array): void {
    this.#socket?.sendMedia(message);
  }

  ping(): void {
    this.#socket?.ping();
  }

  close(code: number, reason: string, last: string | undefined): void {
    this.#socket?.close(code, reason, last);
  }

  drop(): void {
    this.#isDropped = true;
    this.#socket?.drop();
  }

  async #open(events: BotConnectionEvents): Promise<void> {
    const { sockets, socketLimits } = this.#needs;
    const upgrade = await prepareUpgrade(this.#options, this.#needs);
    if (this.#isDropped) return;
    if (!upgrade.ok) {
      events.closed(upgrade.error);
      return;
    }
    const addresses = await this.#resolve(upgrade.value, events);
    if (this.#isDropped || addresses === undefined) return;
    const limits = nativeLimits(socketLimits, this.#options.tracks === 'both' ? 2 : 1);
    const limited = { limits, account: this.#options.ownerId };
    this.#socket = sockets.open(upgrade.value, addresses, limited, {
      ...events,
      oversized: (what) => {
        const { maxMessageBytes, accountMessageBytes } = socketLimits;
        events.oversized(what, what === 'message' ? maxMessageBytes : accountMessageBytes);
      },
    });
  }

  /** Allowed addresses of the host, or undefined if the end has been reported. */
  #resolve(
    { url }: Upgrade,
    events: BotConnectionEvents,
  ): Promise<readonly ResolvedAddress[] | undefined> {
    const host = hostOf(url);
    const family = isIP(host);
    // An IP address was already checked together with its URL.
    if (family !== 0) return Promise.resolve([{ address: host, family: family === 6 ? 6 : 4 }]);
    return new Promise((resolve) => {
      this.#needs.egress.lookup(host, { all: true }, (error, found) => {
        if (error === null && typeof found !== 'string') {
          resolve(found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 })));
          return;
        }
        const refused = error?.code === 'EGRESS_REFUSED';
        const why = refused ? 'the address is refused' : 'the connection failed';
        events.closed(`${why}: ${refused ? error.message : (error?.code ?? 'no address')}`);
        resolve(undefined);
      });
    });
  }
}

function nativeLimits(limits: StreamSocketLimits, tracks: number): NativeSocketLimits {
  return {
    maxMessageBytes: limits.maxMessageBytes,
    accountMessageBytes: limits.accountMessageBytes,
    waitingMedia: limits.waitingMediaPerTrack * tracks,
    waitingControlBytes: limits.waitingControlBytes,
    messagesPerSecond: limits.messages.perSecond,
    messagesBurst: limits.messages.burst,
    bytesPerSecond: limits.bytes.perSecond,
    bytesBurst: limits.bytes.burst,
    floodMs: limits.floodMs,
  };
}
