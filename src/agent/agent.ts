/** The agent program: a web server with an answer URL and a WebSocket that connects calls to a model. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Clock } from '../base/clock.ts';
import { createServer, urlOf } from '../base/node-http.ts';
import type { AgentFile } from './agent-file.ts';
import { Conversation } from './conversation.ts';
import {
  answerDocument,
  DONE,
  outcomeDocument,
  type ResultUrls,
  transferredDocument,
} from './documents.ts';
import { part, textOf } from './model/json-socket.ts';
import type { AgentNetwork } from './network.ts';
import { inputOf, openModel } from './open-model.ts';
import type { Outcome } from './outcome.ts';

export interface AgentOptions {
  readonly agent: AgentFile;
  readonly sounds: ReadonlyMap<string, Buffer>;
  readonly clock: Clock;
  readonly network: AgentNetwork;
  /** Public URL of the agent, without password; undefined: that of `listen`. */
  readonly url?: string;
  /** Outcomes of calls whose stream has ended, by call UUID. The next version of the agent continues these calls. */
  readonly outcomes?: Map<string, Outcome>;
  print(line: string): void;
}

/** URLs contain the password of the file. */
export interface RunningAgent {
  readonly answerUrl: string;
  readonly hangupUrl: string;
  /** Port of its web server. */
  readonly port: number;
  readonly activeCalls: number;
  stop(): Promise<void>;
}

/** User of the URLs if the file has a password. */
const USER = 'agent';
const MAX_BODY_BYTES = 64 * 1024;
const MAX_MESSAGE_BYTES = 256 * 1024;
/** Unsent bytes to the service that end the stream, about 60 s of audio. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Outcomes that wait for the service's request. The oldest is dropped beyond that. */
const MAX_OUTCOMES = 10_000;
/** Time for the first message of a stream, in ms. */
const START_MS = 10_000;

export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const program = new AgentProgram(options);
  await program.listen();
  return program;
}

class AgentProgram implements RunningAgent {
  readonly #options: AgentOptions;
  readonly #server: Server;
  readonly #sockets: WebSocketServer;
  readonly #outcomes: Map<string, Outcome>;
  #url = '';

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#outcomes = options.outcomes ?? new Map();
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#sockets = new WebSocketServer({
      server: this.#server,
      path: '/stream',
      verifyClient: ({ req }: { readonly req: IncomingMessage }) => this.#isAuthorized(req),
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
    });
    this.#sockets.on('error', () => undefined);
    this.#sockets.on('connection', (socket) => this.#connect(socket));
  }

  get answerUrl(): string {
    return `${this.#url}/answer`;
  }

  get hangupUrl(): string {
    return `${this.#url}/hangup`;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get activeCalls(): number {
    return this.#sockets.clients.size;
  }

  async listen(): Promise<void> {
    const { host, port, publicUrl, password } = this.#options.agent.listen;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) =>
        reject(new Error(`cannot listen on ${host}:${port}: ${error.code ?? error.message}`)),
      );
      this.#server.listen(port, host, resolve);
    });
    if (this.#options.url !== undefined) {
      this.#url = this.#options.url;
      return;
    }
    const at = this.#server.address() as AddressInfo;
    const authority = `${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`;
    const url = new URL(publicUrl ?? `http://${authority}`);
    if (password !== undefined) Object.assign(url, { username: USER, password });
    this.#url = url.href.replace(/\/+$/, '');
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate();
    this.#sockets.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** The service sends user and password of the URL as Basic credentials. */
  #isAuthorized({ headers }: IncomingMessage): boolean {
    const { password } = this.#options.agent.listen;
    if (password === undefined) return true;
    const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
    const expected = `Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`;
    return timingSafeEqual(digest(headers.authorization ?? ''), digest(expected));
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isAuthorized(request)) {
      response.writeHead(401, { 'WWW-Authenticate': 'Basic' }).end();
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
      if (body.length > MAX_BODY_BYTES) request.destroy();
    });
    request.on('end', () => {
      const { pathname = '', searchParams } = urlOf(request) ?? {};
      const form = request.method === 'GET' ? searchParams : undefined;
      this.#answer(pathname, form ?? new URLSearchParams(body), response);
    });
  }

  #answer(path: string, form: URLSearchParams, response: ServerResponse): void {
    const { agent } = this.#options;
    const callUuid = form.get('CallUUID') ?? '';
    const xml = (text: string): void => {
      response.writeHead(200, { 'Content-Type': 'application/xml' }).end(text);
    };
    switch (path) {
      case '/answer':
        if (this.activeCalls < agent.limits.calls) xml(this.#streamDocument());
        else xml(outcomeDocument(agent, FULL, this.#resultUrls));
        break;
      case '/after':
        // Without an outcome, the stream broke.
        xml(outcomeDocument(agent, this.#outcomes.get(callUuid) ?? LOST, this.#resultUrls));
        this.#outcomes.delete(callUuid);
        break;
      case '/transferred':
        xml(transferredDocument(agent, form.get('DialStatus') === 'completed'));
        break;
      case '/done':
        xml(DONE);
        break;
      case '/hangup':
        this.#outcomes.delete(callUuid);
        response.writeHead(200).end();
        break;
      default:
        response.writeHead(404).end();
    }
  }

  get #resultUrls(): ResultUrls {
    return { transferred: `${this.#url}/transferred`, done: `${this.#url}/done` };
  }

  #streamDocument(): string {
    const { agent } = this.#options;
    const stream = `${this.#url.replace(/^http/, 'ws')}/stream`;
    return answerDocument(agent, inputOf(agent), { stream, after: `${this.#url}/after` });
  }

  #connect(socket: WebSocket): void {
    const { clock, agent } = this.#options;
    if (this.activeCalls > agent.limits.calls) {
      socket.close(1013, 'too many calls');
      return;
    }
    let conversation: Conversation | undefined;
    const cancel = clock.at(clock.monotonicMs() + START_MS, () => {
      if (conversation === undefined) socket.terminate();
    });
    socket.on('message', (data) => {
      const text = String(data);
      if (conversation === undefined) conversation = this.#begin(text, socket);
      else conversation.receive(text);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      cancel();
      conversation?.close();
    });
  }

  /** Begins a conversation with the message `start`. */
  #begin(text: string, socket: WebSocket): Conversation | undefined {
    const { agent, sounds, clock, network, print } = this.#options;
    const message = parsed(text);
    if (part(message, 'start')['streamId'] === undefined) return undefined;
    const { callId, streamId, from } = part(message, 'start');
    const call = textOf(callId);
    print(`call ${call} from ${textOf(from)}`);
    return new Conversation({
      agent,
      clock,
      network,
      sounds,
      openModel: (events) => openModel(agent, { clock, network }, events),
      send: (one) => {
        if (socket.readyState !== socket.OPEN) return;
        socket.send(JSON.stringify({ ...one, streamId }));
        if (socket.bufferedAmount > MAX_WAITING_BYTES) socket.terminate();
      },
      ends: (outcome) => this.#keep(call, outcome),
      print: (line) => print(`call ${call}: ${line}`),
    });
  }

  #keep(callUuid: string, outcome: Outcome): void {
    const [oldest] = this.#outcomes.keys();
    if (this.#outcomes.size >= MAX_OUTCOMES && oldest !== undefined) this.#outcomes.delete(oldest);
    this.#outcomes.set(callUuid, outcome);
  }
}

const FULL: Outcome = { kind: 'fallback', cause: 'too many calls' };
const LOST: Outcome = { kind: 'fallback', cause: 'the stream broke' };

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
