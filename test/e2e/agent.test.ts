/** An agent program answers calls of the running service, with a stand-in for the vendor. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../packages/client/src/client.ts';
import { type RunningAgent, startAgent } from '../../src/agent/agent.ts';
import type { AgentFile } from '../../src/agent/agent-file.ts';
import { register } from '../../src/cli/agent/registration.ts';
import { systemClock as clock } from '../../src/edge/clock/system-clock.ts';
import { convertRate, readWav } from '../../src/phone/audio/wav.ts';
import { AGENT, OPEN_NETWORK } from '../agent/call.ts';
import { type Event, Vendor } from '../agent/vendor.ts';
import { eventually } from '../eventually.ts';
import { someOf } from '../thorough.ts';
import { Handset } from './handset.ts';
import { makeUser, type SipUser } from './phone.ts';
import { Scene } from './scene.ts';
import { type Json, Program } from './service.ts';
import { joined, silence, tone, toneMs } from './tones.ts';

let scene: Scene;
let vendor: Vendor;
const agents: RunningAgent[] = [];
const programs: Program[] = [];
const ROOT = join(import.meta.dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'carillon-agents-'));
beforeAll(async () => {
  scene = await Scene.open({ OPENAI_API_KEY: 'sk-of-the-operator', AGENT_CRM_TOKEN: 'crm-secret' });
  vendor = await Vendor.listen();
});
afterAll(async () => {
  for (const agent of agents) await agent.stop();
  for (const program of programs) program.child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
  await vendor.close();
  await scene.close();
});

/** Starts an agent and returns a user whose calls it answers. */
async function answeredBy(name: string, more: Partial<AgentFile> = {}): Promise<SipUser> {
  vendor.received.length = 0;
  vendor.react = (event) => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
    if (event['type'] === 'response.create') say('greeting', 1000, 600);
  };
  const running = await startAgent({
    agent: {
      ...AGENT,
      name,
      greeting: 'Hello.',
      model: { ...AGENT.model, url: vendor.url, apiKey: 'sk' },
      ...more,
    },
    sounds: new Map(),
    clock,
    network: OPEN_NETWORK,
    print: () => undefined,
  });
  agents.push(running);
  const user = await makeUser(scene.service, name, { answer_url: scene.document(`/${name}`, '') });
  const { authId, authToken } = scene.service.demo;
  const client = new Client({ url: scene.service.baseUrl, authId, authToken });
  await register(client, {
    name,
    answerUrl: running.answerUrl,
    hangupUrl: running.hangupUrl,
    endpoint: user.username,
    numbers: [],
  });
  return user;
}

/** Recorded speech at 8 kHz. */
function speech(): Int16Array {
  const wav = readWav(readFileSync(join(ROOT, 'fixtures/audio/speech.wav')));
  if (!wav.ok) throw new Error(wav.error);
  return convertRate(wav.value, 8000);
}

function pcm24k(hz: number, ms: number): Buffer {
  const samples = Int16Array.from(
    { length: ms * 24 },
    (_, i) => 8000 * Math.sin((2 * Math.PI * hz * i) / 24_000),
  );
  return Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** The vendor speaks a tone. */
function say(item: string, hz: number, ms: number): void {
  const bytes = pcm24k(hz, ms);
  vendor.send(
    { type: 'response.created' },
    { type: 'response.output_audio.delta', item_id: item, delta: bytes.toString('base64') },
    { type: 'response.output_audio_transcript.done', transcript: `tone ${hz}` },
    { type: 'response.done', response: { status: 'completed', output: [] } },
  );
}

const callTool = (name: string, args: Event): void =>
  vendor.send({
    type: 'response.function_call_arguments.done',
    call_id: `call-${name}`,
    name,
    arguments: JSON.stringify(args),
  });

/** Runs `carillon agent` with this file until `stop`. */
async function command(name: string, yaml: string): Promise<{ user: SipUser; agent: Program }> {
  const user = await makeUser(scene.service, name, { answer_url: scene.document(`/${name}`, '') });
  const file = join(folder, `${name}.yaml`);
  writeFileSync(file, `name: ${name}\ninstructions: Be brief.\n${yaml}`);
  const agent = new Program(
    'src/cli/main.ts',
    ['agent', '--config', file, '--endpoint', user.username],
    { CARILLON_URL: scene.service.baseUrl, CARILLON_DATA_DIR: scene.service.dataDir },
  );
  programs.push(agent);
  await eventually('the registration', () => {
    if (agent.child.exitCode !== null) throw new Error(agent.output);
    return agent.output.includes('application agent-') ? true : undefined;
  });
  return { user, agent };
}

async function applicationOf({ username }: SipUser): Promise<unknown> {
  const { body } = await scene.service.api('GET', 'Endpoint/?limit=20');
  const all = body['objects'] as readonly Json[];
  return all.find((one) => one['username'] === username)?.['app_id'];
}

/** Timeline of the newest call that has an entry with this text. */
async function timelineWith(text: string): Promise<readonly Json[]> {
  return eventually(`a timeline with ${text}`, async () => {
    const { body } = await scene.service.api('GET', 'cdr?per_page=10');
    const live = await scene.service.admin('GET', '/calls');
    const calls = [...((live.body['calls'] ?? []) as Json[]), ...((body['data'] ?? []) as Json[])];
    for (const call of calls) {
      const uuid = String(call['call_uuid'] ?? call['uuid']);
      const reply = await scene.service.admin('GET', `/calls/${uuid}`);
      const log = (reply.body['log'] ?? []) as Json[];
      if (JSON.stringify(log).includes(text)) return log;
    }
    return undefined;
  });
}

const loudMs = (heard: Int16Array): number =>
  heard.filter((sample) => Math.abs(sample) > 1000).length / 8;

describe('an agent', () => {
  it('greets the caller, and writes the transcript to the call record', async () => {
    const user = await answeredBy('talker');
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await eventually('the greeting', () => loudMs(phone.received) > 300 || undefined);
    await phone.hangUp();
    const log = await timelineWith('tone 1000');
    expect(log.find(({ text }) => text === 'transcript')?.['facts']).toEqual({
      speaker: 'bot',
      text: 'tone 1000',
    });
  });

  it('speaks the fallback when the vendor disconnects, and the call record states the cause', async () => {
    const user = await answeredBy('broken', {
      fallback: { say: 'I am sorry. Please call later.' },
    });
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await vendor.got(({ type }) => type === 'response.create');
    for (const socket of vendor.sockets) socket.terminate();
    const end = await phone.ended;
    expect(end.by).toBe('remote');
    const log = await timelineWith('failed: the model lost the connection');
    expect(log.some(({ kind, text }) => kind === 'xml' && text === 'speak')).toBe(true);
    await phone.close();
  });

  it('stops when the caller speaks, and tells the model what the caller has heard', async () => {
    const user = await answeredBy('interrupted');
    vendor.react = (event) => {
      if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
      if (event['type'] === 'response.create') say('long', 1000, 10_000);
    };
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await eventually('a part of the speech', () => toneMs(phone.received, 1000) > 500 || undefined);
    phone.say(speech());
    const cut = await vendor.got(({ type }) => type === 'conversation.item.truncate');
    const heardMs = toneMs(phone.received, 1000);
    expect(cut['item_id']).toBe('long');
    expect(Number(cut['audio_end_ms'])).toBeGreaterThan(500);
    expect(Math.abs(Number(cut['audio_end_ms']) - heardMs)).toBeLessThan(400);
    await phone.hangUp();
    const log = await timelineWith('caller interrupted the bot');
    expect(log.filter(({ text }) => text === 'caller interrupted the bot')).toHaveLength(1);
  });

  it('hangs up after its last words', async () => {
    const tool = { name: 'bye', type: 'hangup', description: 'd' } as AgentFile['tools'][number];
    const user = await answeredBy('leaver', { tools: [tool] });
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await vendor.got(({ type }) => type === 'response.create');
    callTool('bye', {});
    await phone.ended;
    // The greeting has been played to its end.
    expect(loudMs(phone.received)).toBeGreaterThan(350);
    await phone.close();
  });

  const mover = (mode: 'blind' | 'warm', to: string): AgentFile['tools'][number] => ({
    name: 'move',
    type: 'transfer',
    description: 'd',
    to: [to],
    mode,
    method: 'POST',
    headers: {},
    timeoutSeconds: 8,
  });
  const uriOf = (element: string): string => /<User>(.*)<\/User>/.exec(element)?.[1] ?? '';

  it('transfers the caller', async () => {
    const { phone: colleague, element } = await scene.waiting('colleague1', {
      voice: tone([700], 3000),
    });
    const user = await answeredBy('blind', { tools: [mover('blind', uriOf(element))] });
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await vendor.got(({ type }) => type === 'response.create');
    callTool('move', {});
    await colleague.answered;
    await phone.hangUp();
    await colleague.ended;
    await colleague.close();
  });

  it('speaks the fallback when the colleague of a transfer is not reached', async () => {
    const user = await answeredBy('unreachable', {
      tools: [mover('blind', `sip:nobody@127.0.0.1:${scene.service.sipPort}`)],
      fallback: { say: 'I could not reach my colleague.' },
    });
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await vendor.got(({ type }) => type === 'response.create');
    callTool('move', {});
    expect((await phone.ended).by).toBe('remote');
    const log = await timelineWith('Dial ended');
    const elements = log.filter(({ kind }) => kind === 'xml').map(({ text }) => text);
    expect(elements.slice(-4)).toEqual(['dial', 'document', 'speak', 'hangup']);
    await phone.close();
  });

  it('introduces the caller; the colleague accepts; the model leaves', async () => {
    const { phone: colleague, element } = await scene.waiting('colleague2');
    const user = await answeredBy('warm', { tools: [mover('warm', uriOf(element))] });
    const phone = await Handset.call(scene.service, user, { voice: tone([900], 60_000) });
    await phone.answered;
    await vendor.got(({ type }) => type === 'response.create');
    callTool('move', { reason: 'Anna needs help with an invoice.' });
    await colleague.answered;
    await eventually('the introduction', () => loudMs(colleague.received) > 300 || undefined);
    colleague.press('1');
    await eventually('the end of the model', () => vendor.sockets.length === 0 || undefined);
    await phone.hangUp();
    await colleague.ended;
    const log = await timelineWith('transfer completed');
    expect(
      log.filter(({ text }) => String(text).startsWith('transfer ')).map(({ text }) => text),
    ).toEqual([
      'transfer requested',
      'transfer ringing',
      'transfer answered',
      'transfer completed',
    ]);
    await colleague.close();
  });

  it('continues with the caller when the colleague declines', async () => {
    const { phone: colleague, element } = await scene.waiting('colleague3');
    const user = await answeredBy('declined', { tools: [mover('warm', uriOf(element))] });
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await vendor.got(({ type }) => type === 'response.create');
    callTool('move', {});
    await colleague.answered;
    await eventually('the introduction', () => loudMs(colleague.received) > 300 || undefined);
    colleague.press('2');
    const result = await vendor.got(({ type }) => type === 'conversation.item.create');
    expect(result['item']).toMatchObject({ output: expect.stringContaining('transfer declined') });
    await phone.hangUp();
    await colleague.ended;
    await colleague.close();
  });
});

describe('an application of type agent', () => {
  const greeting = (event: Event, hz: number): void => {
    if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
    if (event['type'] === 'response.create') say('greeting', hz, 600);
  };
  const definition = () => ({
    instructions: 'Be brief.',
    greeting: 'Hello.',
    model: { type: 'openai-realtime', url: vendor.url, apiKey: '${OPENAI_API_KEY}' },
    tools: [
      {
        name: 'lookup',
        type: 'http',
        description: 'd',
        url: scene.url('/crm'),
        headers: { Authorization: 'Bearer ${AGENT_CRM_TOKEN}' },
      },
    ],
  });

  it('answers calls of its endpoints and follows a change with the next call; keys stay in the environment', async () => {
    vendor.received.length = 0;
    vendor.upgrades.length = 0;
    vendor.react = (event) => greeting(event, 1000);
    const user = await makeUser(scene.service, 'agentapp', {
      answer_url: scene.document('/agentapp', ''),
    });
    const made = await scene.service.api('POST', 'Application/', {
      app_name: 'reception',
      application_type: 'agent',
      agent: definition(),
    });
    expect([made.status, made.text]).toEqual([201, expect.stringContaining('app_id')]);
    const path = `Application/${made.body['app_id']}/`;
    const endpoints = (await scene.service.api('GET', 'Endpoint/?limit=20')).body['objects'];
    const endpoint = (endpoints as Json[]).find(({ username }) => username === user.username);
    const bound = await scene.service.api('POST', `Endpoint/${endpoint?.['endpoint_id']}/`, {
      app_id: Number(made.body['app_id']),
    });
    expect(bound.status).toBe(202);
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await eventually('the greeting', () => toneMs(phone.received, 1000) > 300 || undefined);
    expect(vendor.upgrades[0]?.headers.authorization).toBe('Bearer sk-of-the-operator');
    callTool('lookup', { name: 'Anna' });
    const [asked] = await eventually('the tool', () =>
      scene.customer.at('/crm').length > 0 ? scene.customer.at('/crm') : undefined,
    );
    expect(asked?.headers.authorization).toBe('Bearer crm-secret');
    vendor.react = (event) => greeting(event, 1500);
    const instructions = 'Be very brief.';
    const changed = await scene.service.api('POST', path, {
      agent: { ...definition(), instructions },
    });
    expect(changed.status).toBe(202);
    const second = await Handset.call(scene.service, user);
    await second.answered;
    await eventually('the new greeting', () => toneMs(second.received, 1500) > 300 || undefined);
    const sessions = vendor.received.filter(({ type }) => type === 'session.update');
    expect(sessions.map(({ session }) => (session as Json)['instructions'])).toEqual([
      'Be brief.',
      instructions,
    ]);
    await Promise.all([phone.hangUp(), second.hangUp()]);
    const shown = await scene.service.api('GET', path);
    expect(shown.body).toMatchObject({
      application_type: 'agent',
      agent: { instructions, model: { apiKey: '${OPENAI_API_KEY}' } },
    });
    const log = JSON.stringify(await timelineWith('tone 1500'));
    for (const secret of ['sk-of-the-operator', 'crm-secret'])
      expect((shown.text + log + scene.service.program.output).includes(secret)).toBe(false);
    // The address works only for requests of the service.
    const answerUrl = String(shown.body['answer_url']);
    expect(answerUrl).toMatch(/^https:\/\/agent\.invalid\/\d+-[0-9a-f]{32}\/answer$/);
    expect((await scene.service.api('POST', path, { answer_url: scene.url('/x') })).status).toBe(
      400,
    );
    const back = await scene.service.api('POST', path, {
      agent: null,
      answer_url: scene.url('/agentapp'),
    });
    expect(back.status).toBe(202);
    const after = (await scene.service.api('GET', path)).body;
    expect(after).toMatchObject({ application_type: 'XML', agent: null });
  });

  it('ends a call at the address of an agent that is not this one', async () => {
    const url = 'https://agent.invalid/1-00000000000000000000000000000000/answer';
    const user = await makeUser(scene.service, 'guesser', { answer_url: url });
    const phone = await Handset.call(scene.service, user);
    await phone.ended;
    const log = await timelineWith('the application is not an agent');
    expect(JSON.stringify(log)).toContain('answerUrlError');
    await phone.close();
  });

  it('refuses an invalid definition with its fields', async () => {
    const model = { type: 'openai-realtime' };
    const refused = async (agent: unknown): Promise<unknown> => {
      const { status, body } = await scene.service.api('POST', 'Application/', {
        app_name: 'wrong',
        application_type: 'agent',
        ...(agent !== undefined && { agent }),
      });
      expect(status).toBe(400);
      return body['details'];
    };
    expect(await refused(undefined)).toEqual({ agent: 'is required' });
    expect(await refused('a: [')).toEqual({
      agent: expect.stringContaining('cannot read the YAML'),
    });
    const bomb = `a: &a [${'x,'.repeat(9)}]\nb: &b [${'*a,'.repeat(9)}]\nc: &c [${'*b,'.repeat(9)}]\nd: [${'*c,'.repeat(9)}]`;
    expect(await refused(bomb)).toEqual({ agent: expect.stringContaining('cannot read the YAML') });
    expect(await refused({ model })).toEqual({ 'agent.instructions': 'is missing' });
    expect(await refused({ instructions: 'x', model: { ...model, voise: 'a' } })).toEqual({
      'agent.model.voise': 'is not a known field',
    });
    expect(await refused({ instructions: 'x', model: { ...model, apiKey: 'sk-123' } })).toEqual({
      'agent.model.apiKey': expect.stringContaining('must be a reference'),
    });
    const tool = { name: 'a', type: 'http', description: 'd', url: 'http://10.0.0.1/' };
    const hidden = { ...model, url: 'wss://[::ffff:169.254.169.254]/' };
    expect(await refused({ instructions: 'x', model: hidden, tools: [tool] })).toEqual({
      'agent.model.url': '::ffff:a9fe:a9fe is a link-local address (setting egress.allow)',
      'agent.tools[0].url': '10.0.0.1 is a private address (setting egress.allow)',
    });
    expect(await refused({ instructions: '${CARILLON_ADMIN_TOKEN}', model })).toEqual({
      'agent.instructions': 'may not use the environment variable CARILLON_ADMIN_TOKEN',
    });
    const play = { name: 'p', type: 'play', description: 'd', file: '/etc/passwd' };
    expect(await refused({ instructions: 'x', model, tools: [play] })).toEqual({
      'agent.tools[0].type': 'play is valid only in an agent file',
    });
    expect(await refused({ instructions: 'x', model, listen: { host: '0.0.0.0' } })).toEqual({
      'agent.listen': 'is valid only in an agent file',
    });
    expect(await refused('instructions: x\nmodel: { type: gpt }')).toEqual({
      'agent.model.type': expect.stringContaining('must be one of openai-realtime'),
    });
  });
});

describe('carillon agent', () => {
  it('registers an application that only the service can use, and restores the endpoint at its end', async () => {
    vendor.received.length = 0;
    vendor.react = (event) => {
      if (event['type'] === 'session.update') vendor.send({ type: 'session.updated' });
      if (event['type'] === 'response.create') say('greeting', 1000, 600);
    };
    const { user, agent } = await command(
      'cli',
      `greeting: Hello.
model: { type: openai-realtime, url: "${vendor.url}" }
listen: { port: 0, password: correct-horse-battery }
`,
    );
    const before = await applicationOf(user);
    const [, url = ''] = /answer URL (\S+)/.exec(agent.output) ?? [];
    expect(url).toContain('agent:***@');
    expect((await fetch(url.replace('agent:***@', ''), { method: 'POST' })).status).toBe(401);
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await eventually('the greeting', () => toneMs(phone.received, 1000) > 300 || undefined);
    await phone.hangUp();
    await eventually('the end of the call', () => agent.output.includes('call ended') || undefined);
    agent.child.kill('SIGTERM');
    expect(await agent.exited).toBe(0);
    expect(await applicationOf(user)).not.toBe(before);
  });

  it('changes no endpoint if a number of the file is unknown, and names the number', async () => {
    const url = scene.document('/numberless', '');
    const user = await makeUser(scene.service, 'numberless', { answer_url: url });
    const before = await applicationOf(user);
    const file = join(folder, 'numberless.yaml');
    writeFileSync(
      file,
      'name: numberless\ninstructions: x\nnumbers: ["14155550999"]\nlisten: { port: 0 }\nmodel: { type: openai-realtime, apiKey: k }\n',
    );
    const agent = new Program(
      'src/cli/main.ts',
      ['agent', '--config', file, '--endpoint', user.username],
      { CARILLON_URL: scene.service.baseUrl, CARILLON_DATA_DIR: scene.service.dataDir },
    );
    expect(await agent.exited).toBe(1);
    expect(agent.stderr).toContain('the account has no number 14155550999');
    expect(await applicationOf(user)).toBe(before);
  });

  it('runs a pipeline against local servers without an API key', async () => {
    const asked: Json[] = [];
    const { user } = await command('local', pipelineOf(asked));
    const phone = await Handset.call(scene.service, user);
    await phone.answered;
    await eventually('the whole greeting', () => toneMs(phone.received, 700) > 580 || undefined);
    phone.say(joined([tone([300, 500], 1200), silence(1500)]));
    await eventually('the answer', () => toneMs(phone.received, 1300) > 300 || undefined);
    expect(asked[0]?.['messages']).toMatchObject([
      { role: 'system' },
      { role: 'assistant', content: 'Welcome.' },
      { role: 'user', content: 'When do you open?' },
    ]);
    await phone.hangUp();
    const log = await timelineWith('When do you open?');
    expect(log.filter(({ text }) => text === 'transcript').map(({ facts }) => facts)).toEqual([
      { speaker: 'bot', text: 'Welcome.' },
      { speaker: 'caller', text: 'When do you open?' },
      { speaker: 'bot', text: 'At nine.' },
    ]);
  });

  it('refuses an invalid file with file, line and field', async () => {
    const file = join(folder, 'wrong.yaml');
    writeFileSync(file, 'name: wrong\ninstructions: x\nmodel:\n  type: gpt\n');
    const agent = new Program('src/cli/main.ts', ['agent', '--config', file], {});
    expect(await agent.exited).toBe(1);
    expect(agent.stderr).toContain(`${file}:4: model.type: must be one of openai-realtime`);
    const examples = join(ROOT, 'examples/agents');
    for (const name of someOf(['openai-realtime', 'gemini-live', 'local-pipeline'], 1)) {
      const check = new Program(
        'src/cli/main.ts',
        ['agent', '--check', '--config', join(examples, `${name}.yaml`)],
        { OPENAI_API_KEY: 'x', GEMINI_API_KEY: 'x' },
      );
      expect([await check.exited, check.stderr]).toEqual([0, '']);
    }
  });
});

/** Stand-ins for a recognizer, a chat model and speech synthesis. Each sentence has its own tone. */
function pipelineOf(asked: Json[]): string {
  const { customer } = scene;
  customer.page('/v1/audio/transcriptions', (response) =>
    response.end(JSON.stringify({ text: 'When do you open?' })),
  );
  customer.page('/v1/chat/completions', (response, { body }) => {
    asked.push(JSON.parse(body) as Json);
    const delta = { content: 'At nine.' };
    response.end(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\ndata: [DONE]\n\n`);
  });
  customer.page('/v1/audio/speech', (response, { body }) => {
    const { input } = JSON.parse(body) as { readonly input: string };
    response.end(pcm24k(input === 'Welcome.' ? 700 : 1300, 620));
  });
  const url = `http://${customer.authority}/v1`;
  return `greeting: Welcome.
model:
  type: pipeline
  recognizer: { type: http, url: "${url}" }
  chat: { url: "${url}", model: m }
  speech: { url: "${url}", model: s, voice: v }
listen: { port: 0 }
`;
}
