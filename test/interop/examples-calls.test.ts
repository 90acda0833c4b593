/** The examples without models, in both languages, with calls of test phones through the running service. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Customer } from '../e2e/customer.ts';
import { Handset, type HandsetOptions } from '../e2e/handset.ts';
import { Scene } from '../e2e/scene.ts';
import { eventually, type Json, ROOT } from '../e2e/service.ts';
import { joined, loudMs, silence, tone, toneMs } from '../e2e/tones.ts';
import { ExampleStage, LANGUAGES, speech } from './examples-stage.ts';
import { N8n, type Workflow } from './n8n.ts';

const CALLER_ID = '14155550100';
let stage: ExampleStage;
let scene: Scene;
let recognizer: Customer;
/** Words that the recognizer returns. */
let words = '';
beforeAll(async () => {
  recognizer = await Customer.listen();
  recognizer.page('/v1/audio/transcriptions', (response) =>
    response.end(JSON.stringify({ text: words })),
  );
  scene = await Scene.open({
    CARILLON_RECOGNITION_HTTP_URL: `http://${recognizer.authority}/v1`,
  });
  stage = new ExampleStage(scene);
  await scene.service.admin('POST', `/accounts/${scene.service.demo.authId}/caller-ids`, {
    number: `+${CALLER_ID}`,
  });
});
afterAll(async () => {
  stage.stop();
  await scene.close();
  await recognizer.close();
});

const loud = (phone: Handset, ms: number): Promise<true> =>
  eventually(`${ms} ms of speech`, () => loudMs(phone.received) > ms || undefined);
const heard = (phone: Handset, hz: number): Promise<true> =>
  eventually(`${hz} Hz`, () => toneMs(phone.received, hz) > 300 || undefined);

/** Starts a phone that answers the calls of a new carrier, which replaces the earlier one. */
async function calledParty(name: string, options: HandsetOptions = {}): Promise<Handset> {
  const user = { username: name, password: 'not-used' };
  const phone = await Handset.waitingUnregistered(scene.service, user, options);
  await scene.service.admin('DELETE', '/carriers/phones');
  const carrier = { name: 'phones', host: '127.0.0.1', port: phone.sipPort, probe: false };
  const made = await scene.service.admin('POST', '/carriers', carrier);
  expect(made.status, made.text).toBe(201);
  return phone;
}

describe.each(LANGUAGES)('warm transfer (%s)', (language) => {
  const script = `warm-transfer/bot.${language}`;

  /** The caller asks for a person, and the colleague hears the introduction. */
  async function introduced(name: string) {
    const { phone: colleague, uri } = await stage.colleague(name);
    const bot = await stage.run(script, { COLLEAGUE: uri });
    const phone = await stage.call(bot.url('/answer'));
    await loud(phone, 300);
    phone.press('0');
    await colleague.answered;
    await loud(colleague, 500);
    return { colleague, bot, phone };
  }

  it('introduces the caller, connects both and leaves', async () => {
    const { colleague, bot, phone } = await introduced(`warm${language}`);
    colleague.press('1');
    await bot.printed('transfer answered');
    await bot.printed('the bot has left');
    colleague.say(tone([900], 20_000));
    phone.say(tone([600], 20_000));
    await Promise.all([heard(phone, 900), heard(colleague, 600)]);
    await phone.hangUp();
    await colleague.ended;
    await colleague.close();
  });

  it('continues when the colleague declines', async () => {
    const { colleague, bot, phone } = await introduced(`decline${language}`);
    colleague.press('2');
    await bot.printed('transfer declined');
    await colleague.ended;
    const before = loudMs(phone.received);
    await eventually('the bot', () => loudMs(phone.received) > before + 1000 || undefined);
    await phone.hangUp();
    await colleague.close();
  });
});

describe.each(LANGUAGES)('speech menu (%s)', (language) => {
  it('understands keys and words, and repeats the menu after other words', async () => {
    const { phone: sales, uri } = await stage.colleague(`sales${language}`, {
      voice: tone([900], 20_000),
    });
    const menu = await stage.run(`speech-ivr/app.${language}`, { SALES: uri, SUPPORT: uri });
    const byKey = await stage.call(menu.url('/answer'));
    await loud(byKey, 300);
    byKey.press('2');
    await menu.printed('choice: 2 → support');
    await byKey.hangUp();

    words = 'What is the weather?';
    const caller = await stage.call(menu.url('/answer'), {
      voice: joined([silence(500), tone([300, 500], 1200)]),
    });
    await menu.printed('weather? → none');
    words = 'I want to buy something.';
    const before = loudMs(caller.received);
    await eventually('the menu', () => loudMs(caller.received) > before + 500 || undefined);
    caller.say(joined([tone([300, 500], 1200), silence(5000)]));
    await menu.printed('buy something. → the sales team');
    await sales.answered;
    await heard(caller, 900);
    await caller.hangUp();
    await sales.ended;
    await sales.close();
  });
});

describe.each(LANGUAGES)('appointment campaign (%s)', (language) => {
  it('calls the contact, asks, and gets the choice and the signed events', async () => {
    const contact = await calledParty(`contact${language}`);
    const csv = join(scene.service.dataDir, 'contacts.csv');
    writeFileSync(csv, 'to,Name,Date\n+14155550123,Anna,on Monday at nine\n');
    const app = await stage.run(`appointment-campaign/app.${language}`, { CALLER_ID }, [csv]);
    await app.printed(/campaign \S+ started/);
    await contact.answered;
    await loud(contact, 2000);
    contact.press('1');
    await app.printed('14155550123: confirmed');
    await contact.ended;
    await app.printed('event: contact.answered');
    await app.printed('event: campaign.completed');
    // A request without the signature of the service changes nothing.
    const forged = await fetch(app.url('/choice'), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'To=14155550199&Digits=1',
    }).then(
      ({ status }) => status,
      () => 0,
    );
    expect(forged).not.toBe(200);
    expect(app.program.output).not.toContain('14155550199: confirmed');
    await contact.close();
  });
});

describe.each(LANGUAGES)('voicemail drop (%s)', (language) => {
  it('leaves the message after the beep of a machine', async () => {
    const voice = joined([speech(), silence(300), tone([1000], 500), silence(30_000)]);
    const machine = await calledParty(`machine${language}`, { voice });
    const app = await stage.run(`voicemail-drop/app.${language}`, { CALLER_ID }, ['14155550123']);
    await app.printed('a machine answered');
    const earlyMs = loudMs(machine.received);
    await app.printed('the call ended: NORMAL_CLEARING');
    expect(earlyMs).toBeLessThan(200);
    expect(loudMs(machine.received)).toBeGreaterThan(1500);
    await machine.close();
  });

  it('speaks to a person', async () => {
    const person = await calledParty(`person${language}`, {
      voice: joined([speech().subarray(0, 8000), silence(30_000)]),
    });
    const app = await stage.run(`voicemail-drop/app.${language}`, { CALLER_ID }, ['14155550123']);
    await app.printed('a person answered');
    await loud(person, 500);
    await person.ended;
    await person.close();
  });
});

describe.each(LANGUAGES)('validation of callbacks (%s)', (language) => {
  it('accepts callbacks and events of the service, and refuses others', async () => {
    const { authId, authToken } = scene.service.demo;
    const app = await stage.run(`webhooks/verify.${language}`, { AUTH_TOKEN: authToken });
    const phone = await stage.call(app.url('/answer?shop=7'));
    await app.printed('/answer?shop=7: signed by the service');
    await loud(phone, 200);
    await phone.ended;
    await phone.close();
    const forged = await fetch(app.url('/answer'), { method: 'POST', body: 'a=b' });
    expect(forged.status).toBe(403);
    expect(authId).not.toBe('');
  });
});

describe('n8n', () => {
  const workflow = JSON.parse(
    readFileSync(join(ROOT, 'examples/n8n/workflow.json'), 'utf8'),
  ) as Workflow;

  it('runs the workflow with the callbacks of a call, and refuses forged requests', async () => {
    const tickets: Json[] = [];
    const ticketUrl = scene.customer.page('/tickets', (response, { body }) => {
      tickets.push(JSON.parse(body) as Json);
      response.end('{}');
    });
    const n8n = await N8n.start(workflow, {
      CARILLON_AUTH_TOKEN: scene.service.demo.authToken,
      TICKET_URL: ticketUrl,
    });
    const phone = await stage.call(n8n.url, {}, n8n.url);
    await loud(phone, 500);
    phone.press('1');
    await eventually('the ticket', () => tickets.length > 0 || undefined);
    await phone.ended;
    await eventually('the report', () => tickets.length > 1 || undefined);
    expect(tickets).toMatchObject([
      { kind: 'callback', key: '1', from: expect.stringContaining('example') },
      { kind: 'call', cause: 'NORMAL_CLEARING' },
    ]);
    expect(n8n.executed.filter((name) => name === 'Refuse')).toEqual([]);
    const forged = await fetch(n8n.url, {
      method: 'POST',
      body: new URLSearchParams({ Event: 'GetDigits', Digits: '1' }),
    });
    expect(forged.status).toBe(403);
    expect(tickets).toHaveLength(2);
    await phone.close();
    await n8n.stop();
  });

  it('has positions, IDs and connections of existing nodes, as an import requires', () => {
    const names = new Set(workflow.nodes.map(({ name }) => name));
    expect(names.size).toBe(workflow.nodes.length);
    for (const node of workflow.nodes as readonly (Json & (typeof workflow.nodes)[number])[]) {
      expect(node).toMatchObject({
        id: expect.any(String),
        position: [expect.any(Number), expect.any(Number)],
        typeVersion: expect.any(Number),
      });
    }
    for (const [from, { main }] of Object.entries(workflow.connections)) {
      expect(names).toContain(from);
      for (const { node } of main.flat()) expect(names).toContain(node);
    }
  });
});
