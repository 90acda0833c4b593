/** A bot controlled by a test, which keeps all received messages. Real WebSocket on 127.0.0.1. */

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { StreamId } from '../../src/base/ids.ts';
import { until } from '../eventually.ts';

export type Message = Readonly<Record<string, unknown>> & { readonly event: string };

export interface Received {
  /** Arrival time, from `performance.now()`. */
  readonly atMs: number;
  readonly text: string;
  readonly message: Message;
}

export class ScriptedBot {
  readonly received: Received[] = [];
  closed: { readonly code: number; readonly atMs: number } | undefined;
  readonly #server: WebSocketServer;
  #socket: WebSocket | undefined;

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.#socket = socket;
      socket.on('message', (data) => {
        const text = String(data);
        this.received.push({ atMs: performance.now(), text, message: JSON.parse(text) });
      });
      socket.on('close', (code) => {
        this.closed = { code, atMs: performance.now() };
      });
      socket.on('error', () => undefined);
    });
  }

  static async listen(): Promise<ScriptedBot> {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    return new ScriptedBot(server);
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/bot`;
  }

  get streamId(): string {
    const start = this.of('start')[0]?.message['start'] as
      | { readonly streamId: StreamId }
      | undefined;
    return start?.streamId ?? '';
  }

  of(event: string): Received[] {
    return this.received.filter(({ message }) => message.event === event);
  }

  say(message: unknown): void {
    this.#socket?.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  play(payload: Buffer, contentType: string, sampleRate: number): void {
    const media = { contentType, sampleRate, payload: payload.toString('base64') };
    this.say({ event: 'playAudio', streamId: this.streamId, media });
  }

  close(code: number): void {
    this.#socket?.close(code);
  }

  /** Resolves with the `count`th message of this event. Rejects after a timeout. */
  async wait(event: string, count = 1): Promise<Received> {
    await until(() => this.of(event).length >= count, `${event} number ${count}`);
    return this.of(event)[count - 1] as Received;
  }

  async waitClosed(): Promise<{ readonly code: number; readonly atMs: number }> {
    await until(() => this.closed !== undefined, 'the end of the socket');
    return this.closed as { readonly code: number; readonly atMs: number };
  }

  async stop(): Promise<void> {
    this.#socket?.terminate();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
