/** Opens and closes the SIP and HTTP ports of the node. */
import type { Logger } from '../base/logger.ts';
import { type Demo, startDemo } from '../demo/demo.ts';
import type { RestServer } from '../edge/rest/server.ts';
import type { Lines } from './join/lines.ts';

export interface ListenerParts {
  readonly lines: Lines;
  readonly server: RestServer;
  /** Called when the SIP ports are open and before the HTTP port opens. */
  readonly sipIsOpen: () => void;
  /** URL under which customers reach the service. */
  readonly publicUrl: string;
  /** Whether the demo application runs in this process. */
  readonly demo: boolean;
  readonly logger: Logger;
}

export class PortListeners {
  readonly #parts: ListenerParts;
  #url = '';
  #demo: Demo | undefined;
  #unwatch: () => void = () => undefined;

  constructor(parts: ListenerParts) {
    this.#parts = parts;
  }

  /** Address of the HTTP port; empty before the start. */
  get url(): string {
    return this.#url;
  }

  /** Port of SIP over UDP and TCP. */
  get sipPort(): number {
    return this.#parts.lines.signalling.port();
  }

  async start(): Promise<void> {
    const { lines, server, sipIsOpen, publicUrl, demo, logger } = this.#parts;
    await lines.signalling.start();
    sipIsOpen();
    this.#unwatch = lines.sipIdentity.watch();
    const { url } = await server.start();
    this.#url = url;
    for (const own of [url, publicUrl]) lines.listensOn(own);
    if (!demo) return;
    this.#demo = await startDemo({ host: '127.0.0.1', port: 0, logger });
    lines.ownDemo.listensAt(this.#demo.origin);
  }

  /** Closes all ports together: SIP over WebSocket uses connections of the HTTP server. */
  async stop(): Promise<void> {
    const { lines, server } = this.#parts;
    this.#unwatch();
    await Promise.all([
      ...[server.stop(), this.#demo?.stop(), lines.signalling.stop(), lines.audio.stop()],
      lines.agentHost.stop(),
    ]);
  }
}
