/** Audio and streams of calls in the console: listening, stream inspector, test of a bot, browser phone. Also the sign-in with a code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stepAt, totpCode } from '../../src/domain/user/totp.ts';
import { hasChromium, WITH_MICROPHONE } from '../e2e/chromium.ts';
import { Customer, echoBot } from '../e2e/customer.ts';
import { Handset } from '../e2e/handset.ts';
import { babble, callFor, makeUser } from '../e2e/phone.ts';
import { ROOT } from '../e2e/service.ts';
import { tone } from '../e2e/tones.ts';
import { SpeechServer } from '../edge/speech/speech-server.ts';
import { eventually } from '../eventually.ts';
import { ConsoleStage, expectAccessible, type Person, picture } from './console-stage.ts';

const SPEECH = join(ROOT, 'fixtures/audio/speech.wav');

describe.skipIf(!hasChromium)('calls in the console', () => {
  let stage: ConsoleStage;
  let customer: Customer;
  let developer: Person;
  let recognizer: SpeechServer;

  beforeAll(async () => {
    const text = 'Good morning. This is the last sentence.';
    recognizer = await SpeechServer.listen({
      reply: (_heard, response) => void response.end(JSON.stringify({ text })),
    });
    stage = await ConsoleStage.open(
      { CARILLON_RECOGNITION_HTTP_URL: recognizer.url },
      WITH_MICROPHONE,
    );
    customer = await Customer.listen();
    const { authId } = stage.service.demo;
    developer = await stage.person('dev@example.test', 'developer', authId);
  });
  afterAll(async () => {
    await stage.close();
    await customer.close();
    await recognizer.close();
  });

  /** Waits until the level meter of a direction shows sound. */
  const loud = (name: string): Promise<true> =>
    eventually(`sound ${name}`, async () =>
      (await developer.page.evaluate<boolean>(
        `[...document.querySelectorAll('.meters label')].some((one) => one.textContent.startsWith('${name}') && one.querySelector('meter').value > -30)`,
      ))
        ? true
        : undefined,
    );

  it('a developer reads the conversation of a call with a bot', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const notes: readonly Readonly<Record<string, string>>[] = [
      { kind: 'transcript', speaker: 'caller', text: 'I need an appointment. 😀 مرحبا' },
      { kind: 'transcript', speaker: 'bot', text: 'On Monday at nine?' },
      { kind: 'agent', text: 'tool slots: error: status 503' },
    ];
    const bot = customer.bot('/noting', (socket) => {
      for (const note of notes) socket.send(JSON.stringify({ event: 'note', note }));
      socket.send(JSON.stringify({ event: 'stop', drain: true }));
    });
    const user = await makeUser(service, 'noted', {
      answer_url: customer.xml(
        '/noted',
        `<Response><Stream bidirectional="true" keepCallAlive="true" notes="true">${bot}</Stream><Hangup/></Response>`,
      ),
    });
    await callFor(service, user, 10);
    const uuid = customer.at('/noted')[0]?.form['CallUUID'];
    await go(`/calls/${uuid}`);
    const conversation = page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: 'Conversation' }) });
    for (const { text = '' } of notes) await conversation.getByText(text).waitFor();
    await page.getByText('caller · I need an appointment').waitFor();
    await expectAccessible(developer);
  });

  it('the form of an agent shows each fault of the definition next to it', async () => {
    const { page, go } = developer;
    await go('/applications');
    await page.getByRole('button', { name: 'Create application' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('reception');
    await form.getByLabel('Type').selectOption('agent');
    const definition = form.getByLabel('Agent', { exact: true });
    for (const [yaml, fault] of [
      [
        'instructions: x\nmodel: { type: openai-realtime, voise: a }',
        'model.voise is not a known field',
      ],
      ['a: [', 'cannot read the YAML, line 1: '],
    ] as const) {
      await definition.fill(yaml);
      await form.getByRole('button', { name: 'Create application' }).click();
      await form.locator('.field .error').getByText(fault).waitFor();
      expect(await definition.getAttribute('aria-invalid')).toBe('true');
    }
  });

  it('a developer listens to a call and sees the messages of its bot', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const phone = await Handset.call(service, service.demo, { voice: tone([700], 60_000) });
    await phone.answered;
    await go('/calls?state=live&bot=yes');
    await page.getByRole('region', { name: 'Calls' }).getByRole('link').first().click();
    await page.getByRole('button', { name: 'Listen in' }).click();
    await loud('From the remote party');
    await loud('To the remote party');
    await page.getByRole('button', { name: 'Stop listening' }).click();
    await page.getByRole('button', { name: 'Open stream inspector' }).click();
    await loud('From the remote party');
    phone.press('#');
    const messages = page.getByRole('region', { name: 'Messages of the stream' });
    await messages.getByText('clearAudio').first().waitFor();
    await messages.getByText('clearedAudio').first().waitFor();
    await picture(developer, 'stream');
    await expectAccessible(developer);
    // The audit log records who listened.
    await go('/audit?what=listen');
    await page
      .getByRole('row', { name: /dev@example\.test.*Listen to an answered call/ })
      .waitFor();
    await phone.hangUp();
  });

  it('a developer tests a bot without a call', async () => {
    const { page, go } = developer;
    await go('/streams');
    await page.getByRole('button', { name: 'Test bot' }).click();
    const drawer = page.getByRole('dialog');
    const test = async (url: string) => {
      await drawer.getByLabel('WebSocket URL of the bot').fill(url);
      await drawer.getByLabel('Duration in seconds').fill('4');
      await drawer.getByRole('button', { name: 'Start test' }).click();
      // An address that the service refuses has its result within milliseconds.
    };
    await test(customer.bot('/echo', echoBot));
    const result = drawer.getByRole('region', { name: 'Result of the test' });
    await result.getByText('No fault found').waitFor();
    await result.getByText('First audio from the bot after start').waitFor();
    await picture(developer, 'stream-test');
    await expectAccessible(developer);
    await test(customer.bot('/mute', () => undefined));
    await result.getByText('The bot sent no audio').waitFor();
    await test('ws://192.0.2.1/private');
    await result.getByText(/No stream/).waitFor();
  });

  it('a developer calls the document of the playground, and sends digits', async () => {
    const { page, go } = developer;
    const keys = customer.xml('/trial', '<Response/>');
    await go('/playground');
    await page
      .getByRole('textbox', { name: 'Document' })
      .fill(
        `<Response><GetDigits action="${keys}" numDigits="1" timeout="30"><Wait length="30"/></GetDigits></Response>`,
      );
    await page.getByText('The document is valid').waitFor();
    for (const digit of ['7', '3']) {
      await page.getByRole('button', { name: 'Call document' }).click();
      await page.getByText('In a call.').waitFor();
      await page.getByRole('button', { name: digit, exact: true }).click();
      await eventually('the digit', () =>
        customer.posted.find(({ path, form }) => path === '/trial' && form['Digits'] === digit),
      );
      await page.getByRole('button', { name: 'Call document' }).waitFor();
    }
    await page.getByText('The document is valid').waitFor();
    const { body } = await stage.service.api('GET', 'Application/?app_name__contains=playground');
    expect(body['objects']).toHaveLength(1);
  });

  it('an export contains the calls that match the filters, running ones included', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const held = '<Record recordSession="true" playBeep="false"/><Wait length="60"/>';
    const answer = customer.xml('/export', `<Response>${held}</Response>`);
    const user = await makeUser(service, 'exported', { answer_url: answer });
    await callFor(service, user, 1);
    const phone = await Handset.call(service, user);
    await phone.answered;
    const rowsOf = async (query: string): Promise<readonly string[]> => {
      await go(`/calls?search=${user.username}${query}`);
      await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor();
      await page.getByText(/^\d+ running$/).waitFor();
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export CSV' }).click();
      const chunks: Buffer[] = [];
      for await (const chunk of await (await saved).createReadStream())
        chunks.push(chunk as Buffer);
      return Buffer.concat(chunks).toString('utf8').trimEnd().split('\r\n').slice(1);
    };
    await eventually('both calls', async () =>
      (await rowsOf('')).length === 2 ? true : undefined,
    );
    expect(await rowsOf('&state=live')).toHaveLength(1);
    expect(await rowsOf('&state=ended')).toHaveLength(1);
    // The call was too short to have a poor score.
    expect(await rowsOf('&quality=bad')).toHaveLength(0);
    expect(await rowsOf('&state=live&bot=yes')).toHaveLength(0);
    await phone.hangUp();
  });

  it('a recording shows its transcript, whose sentences follow and move the playback', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const record = '<Record maxLength="3" playBeep="false" transcriptionType="auto"/>';
    const answer = customer.xml('/recorded', `<Response>${record}<Hangup/></Response>`);
    const user = await makeUser(service, 'transcribed', { answer_url: answer });
    await callFor(service, user, 10, babble(5));
    await eventually('the request of the recognizer', () => recognizer.received[0]);
    await go('/recordings');
    const list = page.getByRole('region', { name: 'Recordings' });
    await eventually('the recording', async () => {
      await page.reload();
      await page.getByRole('heading', { name: 'Recordings', level: 1 }).waitFor();
      return (await list.count()) > 0 ? true : undefined;
    });
    // The first row is the latest recording.
    await list.getByRole('row').nth(1).getByRole('button').first().click();
    const drawer = page.getByRole('dialog');
    const last = drawer.getByRole('button', { name: /This is the last sentence/ });
    await drawer.getByRole('button', { name: /Good morning/ }).waitFor();
    await drawer.locator('.wave canvas').first().waitFor({ state: 'attached' });
    await picture(developer, 'recording');
    await expectAccessible(developer);
    await last.click();
    await drawer.getByRole('button', { name: 'Pause' }).waitFor();
    await drawer.locator('.transcript .playing').getByText('last sentence').waitFor();
  });

  it('a developer plays audio to one member of a conference', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const sound = customer.page('/sound.wav', (response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' }).end(readFileSync(SPEECH));
    });
    const answer = customer.xml('/room', '<Response><Conference>board</Conference></Response>');
    const user = await makeUser(service, 'member', { answer_url: answer });
    const phone = await Handset.call(service, user);
    await phone.answered;
    await go('/conferences');
    const members = page.getByRole('region', { name: 'Members of board' });
    await members.getByRole('button', { name: /Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Play audio' }).click();
    await page.getByLabel('URL of the audio file').fill(sound);
    await page.getByRole('dialog').getByRole('button', { name: 'Play audio' }).click();
    await page.getByText('The member hears the audio.').waitFor();
    await eventually('the request of the file', () => customer.at('/sound.wav')[0]);
    await members.getByRole('button', { name: /Actions for/ }).click();
    await page.getByRole('menuitem', { name: 'Stop playback' }).click();
    await page.getByText('The playback has stopped.').waitFor();
    await phone.hangUp();
  });

  it('a developer adds a participant to a multi-party call, records and plays to a member', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const sound = customer.page('/hold.wav', (response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' }).end(readFileSync(SPEECH));
    });
    const answer = customer.xml(
      '/party',
      '<Response><MultiPartyCall role="agent">support</MultiPartyCall></Response>',
    );
    const user = await makeUser(service, 'party', { answer_url: answer });
    const held = '<Record recordSession="true" playBeep="false"/><Wait length="60"/>';
    const waits = customer.xml('/waits', `<Response>${held}</Response>`);
    const second = await makeUser(service, 'waiting', { answer_url: waits });
    const phones = [await Handset.call(service, user), await Handset.call(service, second)];
    for (const phone of phones) await phone.answered;
    const { body } = await service.api('GET', 'Call/?status=live');
    const uuids = (body['calls'] as readonly string[]).slice();
    await go('/conferences');
    const members = page.getByRole('region', { name: 'Members of support' });
    await members.getByRole('row').nth(1).waitFor();
    const first = await members.getByRole('row').nth(1).getByRole('link').getAttribute('href');
    const moved = uuids.find((uuid) => first?.includes(uuid) !== true) ?? '';
    await page.getByRole('button', { name: 'Add participant' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Role').selectOption('customer');
    await form.getByLabel('Join by').selectOption('Moving a running call');
    await form.getByLabel('Call UUID').fill(moved);
    await form.getByRole('button', { name: 'Add participant' }).click();
    await members.getByRole('row').nth(2).waitFor();
    const ofParty = async (action: string) => {
      await page.getByRole('button', { name: 'Actions for support' }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    const ofMember = async (action: string) => {
      await members
        .getByRole('button', { name: /Actions for/ })
        .first()
        .click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await ofParty('Start recording');
    await page.getByText('Recording', { exact: true }).first().waitFor();
    await ofParty('Pause recording');
    await page.getByText('Recording paused').waitFor();
    await picture(developer, 'conferences');
    await expectAccessible(developer);
    await ofParty('Resume recording');
    await ofParty('Stop recording');
    await page.getByText('The recording has stopped.').waitFor();
    await ofMember('Play audio');
    await page.getByLabel('URL of the audio file').fill(sound);
    await form.getByRole('button', { name: 'Play audio' }).click();
    await eventually('the request of the file', () => customer.at('/hold.wav')[0]);
    await ofMember('Start recording');
    await members.getByText('Recording', { exact: true }).waitFor();
    await ofMember('Stop recording');
    await members.getByText('Recording', { exact: true }).waitFor({ state: 'detached' });
    for (const phone of phones) await phone.hangUp();
  });

  it('a developer places calls to several destinations and cancels those that are queued', async () => {
    const { page, go } = developer;
    const { service } = stage;
    const answer = customer.xml('/queued', '<Response/>');
    const owner = `/accounts/${service.demo.authId}`;
    await service.admin('POST', `${owner}/caller-ids`, { number: '+14155550100' });
    await service.admin('PATCH', owner, { cps_limit: 1 });
    await go('/calls');
    await page.getByRole('button', { name: 'Place call' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('From').fill('14155550100');
    const to = Array.from({ length: 30 }, (_, at) => `sip:nobody${at}@127.0.0.1:9`);
    await form.getByLabel('To', { exact: true }).fill(to.join('\n'));
    await form.getByLabel('Answer URL').fill(answer);
    await form.getByRole('button', { name: 'Place call' }).click();
    await page.getByText(/^Queued calls of request/).waitFor();
    await page.getByRole('button', { name: 'Cancel queued calls' }).click();
    const question = page.getByRole('alertdialog');
    await question.getByRole('button', { name: 'Cancel queued calls' }).click();
    await page.getByText('The queued calls are cancelled.').waitFor();
    await page.getByText(/^Queued calls of request/).waitFor({ state: 'detached' });
    await service.admin('PATCH', owner, { cps_limit: 50 });
  });

  it('a developer revokes the token of a browser phone', async () => {
    const { page, go } = developer;
    const { authId } = stage.service.demo;
    const { body } = await stage.service.api('POST', 'JWT/Token/', { iss: authId, sub: 'alice' });
    await go('/credentials');
    await page.getByLabel('Token or its ID (jti)').fill(String(body['token']));
    await page.getByRole('button', { name: 'Revoke token' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke token' }).click();
    await page.getByText('The token is revoked.').waitFor();
  });

  it('a user sets up an authenticator app and signs in with its code', async () => {
    const person = await stage.person('totp@example.test', 'viewer', stage.service.demo.authId);
    const { page, go } = person;
    await go('/profile');
    await page.getByRole('button', { name: 'Set up authenticator app' }).click();
    const code = page.getByRole('img', { name: /Secret for the app/ });
    const secret = /: (\w+)$/.exec((await code.getAttribute('alt')) ?? '')?.[1] ?? '';
    await expectAccessible(person);
    await page.getByLabel('Code from the app').fill('000000');
    await page.getByLabel('Your password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('alert').waitFor();
    const confirmed = totpCode(secret, stepAt(Date.now()));
    await page.getByLabel('Code from the app').fill(confirmed);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('button', { name: 'Disable second factor' }).waitFor();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('E-mail').fill('totp@example.test');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    // Each code works once, so this one is that of the next period.
    const next = totpCode(secret, stepAt(Date.now()) + 1);
    await page.getByLabel('Code').fill(next);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await person.leave();
  });
});
