/** Connections of agents to internal addresses, over real sockets. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import type { AgentFile, AgentTool } from '../../src/agent/agent-file.ts';
import { type AgentNetwork, openNetwork } from '../../src/agent/network.ts';
import type { ResolvedAddress } from '../../src/base/egress.ts';
import { silentLogger } from '../../src/base/logger.ts';
import type { Application } from '../../src/domain/provisioning/types.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { createEgressGuard } from '../../src/edge/egress/egress.ts';
import { AgentHost } from '../../src/service/agent-host.ts';
import { until } from '../eventually.ts';
import { AGENT, TestCall } from './call.ts';
import { type Event, Vendor } from './vendor.ts';

/** A public server of the test. Only this address is permitted. */
const PUBLIC = '127.0.0.2';

let vendor: Vendor;
let outside: Server;
let internal: Server;
let internalConnections = 0;
let respond: (response: ServerResponse) => void;
let answers: Record<string, readonly string[]>;
let network: AgentNetwork;
let call: TestCall;

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

beforeEach(async () => {
  vendor = await Vendor.listen();
  vendor.react = (event) => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
  };
  internalConnections = 0;
  internal = createServer((_, response) => response.end('secret'));
  internal.on('connection', () => {
    internalConnections += 1;
  });
  outside = createServer((_, response) => respond(response));
  internal.listen(0, '127.0.0.1');
  outside.listen(0, PUBLIC);
  await Promise.all([once(internal, 'listening'), once(outside, 'listening')]);
  answers = {};
  network = openNetwork(
    createEgressGuard({
      allow: [PUBLIC, 'vendor.example'],
      allowLoopback: false,
      allowInsecure: true,
      resolver: async (name) => {
        const [next = '127.0.0.1', ...rest] = answers[name] ?? [];
        answers[name] = rest;
        return [{ address: next, family: next.includes(':') ? 6 : 4 } satisfies ResolvedAddress];
      },
    }),
  );
});
afterEach(async () => {
  call?.conversation.close();
  await network.close();
  await vendor.close();
  for (const server of [internal, outside]) {
    server.closeAllConnections();
    server.close();
  }
});

/** Lets the model call an HTTP tool with this URL. Returns the result. */
async function toolResult(url: string): Promise<string> {
  const tool: AgentTool = {
    name: 'fetch',
    type: 'http',
    description: 'd',
    url,
    method: 'POST',
    headers: {},
    timeoutSeconds: 5,
    mode: 'blind',
  };
  const port = new URL(vendor.url).port;
  const model = { ...AGENT.model, url: `ws://vendor.example:${port}/` };
  call = new TestCall({ model, tools: [tool] }, new Map(), network);
  await until(() => call.isReady);
  const item = { type: 'function_call', call_id: url, name: 'fetch', arguments: '{}' };
  vendor.send({ type: 'response.output_item.done', item });
  const created = await vendor.got(({ type }) => type === 'conversation.item.create');
  return String((created['item'] as Event)['output']);
}

describe('HTTP tools', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['[::ffff:127.0.0.1]', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['localhost', 'loopback'],
    ['mapped.example', 'loopback'],
  ])('do not reach %s', async (host, kind) => {
    answers['mapped.example'] = ['::ffff:127.0.0.1'];
    const result = await toolResult(`http://${host}:${portOf(internal)}/`);
    expect(result).toMatch(
      new RegExp(
        `^error: the address is refused: .* ${kind} address \\(setting egress\\.allow\\)$`,
      ),
    );
    expect(internalConnections).toBe(0);
    expect(call.notes.map(({ text }) => text)).toContain(`tool fetch: ${result}`);
  });

  it('reach a permitted address, until its name resolves to an internal one', async () => {
    answers['rebind.example'] = [PUBLIC, '127.0.0.1'];
    respond = (response) => response.writeHead(200, { connection: 'close' }).end('free: 9:00');
    const url = `http://rebind.example:${portOf(outside)}/`;
    expect(await toolResult(url)).toBe('free: 9:00');
    call.conversation.close();
    vendor.received.length = 0;
    expect(await toolResult(url)).toContain('rebind.example: 127.0.0.1 is a loopback address');
  });

  it('follow no redirects', async () => {
    const location = `http://127.0.0.1:${portOf(internal)}/`;
    respond = (response) => response.writeHead(307, { location }).end();
    expect(await toolResult(`http://${PUBLIC}:${portOf(outside)}/`)).toMatch(/^error: /);
    expect(internalConnections).toBe(0);
  });
});

describe('models', () => {
  const failure = async (model: AgentFile['model']): Promise<string> => {
    call = new TestCall({ model }, new Map(), network);
    await call.told('stop');
    expect(call.outcome?.kind).toBe('fallback');
    return String(call.notes.find(({ text }) => String(text).startsWith('failed'))?.['text']);
  };

  it.each(['openai-realtime', 'gemini-live'] as const)('%s at internal addresses', async (type) => {
    const port = portOf(internal);
    const at = (host: string) =>
      failure({ type, dialect: 'current', url: `ws://${host}:${port}/` });
    expect(await at('127.0.0.1')).toBe(
      'failed: the model cannot be reached: 127.0.0.1 is a loopback address (setting egress.allow)',
    );
    expect(await at('[::ffff:7f00:1]')).toContain('loopback address');
    expect(await at('some.example')).toBe(
      'failed: the model cannot be reached: some.example: 127.0.0.1 is a loopback address (setting egress.allow)',
    );
    expect(internalConnections).toBe(0);
  });

  it('follow no redirect of a WebSocket', async () => {
    const location = `ws://127.0.0.1:${portOf(internal)}/`;
    outside.on('upgrade', (_, socket) =>
      socket.end(`HTTP/1.1 302 Found\r\nLocation: ${location}\r\nConnection: close\r\n\r\n`),
    );
    const url = `ws://${PUBLIC}:${portOf(outside)}/`;
    expect(await failure({ ...AGENT.model, url })).toContain('302');
    expect(internalConnections).toBe(0);
  });

  it('follow redirects of HTTP only to permitted addresses', async () => {
    const location = `http://127.0.0.1:${portOf(internal)}/`;
    respond = (response) => response.writeHead(307, { location }).end();
    const url = `http://${PUBLIC}:${portOf(outside)}`;
    const recognizer = `ws://vendor.example:${new URL(vendor.url).port}/`;
    const said = failure({
      type: 'pipeline',
      dialect: 'current',
      recognizer: { type: 'deepgram', url: recognizer, language: 'en' },
      chat: { url, model: 'm', maxTokens: 10 },
      speech: { url, model: 's', voice: 'v', format: 'pcm' },
    });
    await until(() => vendor.sockets.length === 1);
    const channel = { alternatives: [{ transcript: 'hello' }] };
    vendor.send({ type: 'Results', is_final: true, speech_final: true, channel });
    expect(await said).toContain('127.0.0.1 is a loopback address');
    expect(internalConnections).toBe(0);
  });
});

describe('the process of the agents of applications', () => {
  /** Texts of the agent's notes about one call. */
  async function notesWith(allow: readonly string[]): Promise<string> {
    const egress = { allow, allowLoopback: false, allowInsecure: true };
    const host = new AgentHost({ clock, logger: silentLogger, egress });
    const url = `ws://localhost:${new URL(vendor.url).port}/`;
    const definition = { instructions: 'x', model: { type: 'openai-realtime', url } };
    const agent = JSON.stringify(definition);
    try {
      const place = await host.run({ appId: 1, agent } as unknown as Application, 'http://agent');
      if (!place.ok) throw new Error(place.error);
      const { port, password } = place.value;
      const socket = new WebSocket(`ws://agent:${password}@127.0.0.1:${port}/stream`);
      await once(socket, 'open');
      let notes = '';
      socket.on('message', (data) => {
        notes += String(data);
      });
      socket.send(JSON.stringify({ event: 'start', start: { callId: 'c', streamId: 's' } }));
      await until(() => notes.includes('"stop"') || vendor.received.length > 0);
      socket.terminate();
      return notes;
    } finally {
      await host.stop();
    }
  }

  it('has the permitted destinations of the service', async () => {
    expect(await notesWith([])).toContain('localhost: 127.0.0.1 is a loopback address');
    expect(vendor.upgrades).toHaveLength(0);
    expect(await notesWith(['localhost'])).not.toContain('failed');
    expect(vendor.received[0]?.['type']).toBe('session.update');
  });
});
