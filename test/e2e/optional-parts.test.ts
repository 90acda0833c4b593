/** The service on machines without optional parts: it starts, names the missing part, and other features work. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { canHide, nodeWithout, type Part } from '../hidden-parts.ts';
import { someOf } from '../thorough.ts';
import { Customer, echoBot } from './customer.ts';
import { babble, callFor, makeUser } from './phone.ts';
import { eventually, type Json, newPlace, Program, removePlace, Service } from './service.ts';

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-parts-'));
  folders.push(folder);
  return folder;
};
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

interface Use {
  /** Elements of the document, without the end. */
  readonly elements: string;
  /** Warning in the timeline of the call; undefined if there must be none. */
  readonly warning: string | undefined;
}

const SPEAK = '<Speak>Hello.</Speak>';
const GERMAN = '<Speak language="de-DE">Guten Tag.</Speak>';
const INPUT =
  '<GetInput action="https://app.invalid/" inputType="dtmf speech"><Wait length="1"/></GetInput>';
const NO_RECOGNIZER =
  'no speech recognizer: set recognition.httpUrl or recognition.webSocketUrl, or sudo apt-get install pocketsphinx pocketsphinx-en-us';
const NO_VOICE =
  'no speech synthesizer: flite and espeak-ng not installed: sudo apt-get install flite espeak-ng';
const CLEANED = 'noiseSuppression="true"';
const stream = (url: string, attribute = ''): string =>
  `<Stream bidirectional="true" keepCallAlive="true" streamTimeout="3" ${attribute}>${url}</Stream>`;

const MACHINES: ReadonlyArray<
  readonly [hidden: readonly Part[], uses: (bot: string) => Readonly<Record<string, Use>>]
> = [
  [['flite'], () => ({ speak: { elements: SPEAK, warning: undefined } })],
  [
    ['espeak-ng'],
    () => ({
      speak: { elements: SPEAK, warning: undefined },
      german: {
        elements: GERMAN,
        warning:
          'no voice for language de-DE; espeak-ng not installed: sudo apt-get install espeak-ng',
      },
    }),
  ],
  [
    ['flite', 'espeak-ng', 'pocketsphinx', 'libspeexdsp', 'libpq', 'packages'],
    (bot) => ({
      speak: { elements: SPEAK, warning: NO_VOICE },
      disclosure: { elements: stream(bot, 'disclosure="A machine speaks."'), warning: NO_VOICE },
      consent: { elements: '<Consent>Do you agree?</Consent>', warning: NO_VOICE },
      input: { elements: INPUT, warning: NO_RECOGNIZER },
      cleaning: {
        elements: stream(bot, CLEANED),
        warning: 'the Speex DSP library is not installed: sudo apt-get install libspeexdsp1',
      },
      stream: { elements: stream(bot), warning: undefined },
    }),
  ],
];

/** Timeline of the call to the application `name`. */
async function timelineOf(service: Service, customer: Customer, name: string): Promise<Json[]> {
  const [posted] = await eventually('the request for the document', () =>
    customer.at(`/${name}`).length > 0 ? customer.at(`/${name}`) : undefined,
  );
  return eventually('the end of the call', async () => {
    const { body } = await service.admin('GET', `/calls/${posted?.form['CallUUID']}`);
    const log = (body['log'] ?? []) as Json[];
    return log.some(({ text }) => String(text).startsWith('ended')) ? log : undefined;
  });
}

describe.skipIf(!canHide)('the service', () => {
  it.each(someOf(MACHINES, 1))(
    'without %j names the part and its installation',
    async (hidden, usesOf) => {
      const place = await newPlace();
      const customer = await Customer.listen();
      const service = await Service.start(place, undefined, nodeWithout(hidden, newFolder()));
      try {
        expect((await service.get('/readyz')).status).toBe(200);
        for (const [name, { elements, warning }] of Object.entries(
          usesOf(customer.bot('/bot', echoBot)),
        )) {
          const answer_url = customer.xml(`/${name}`, `<Response>${elements}<Hangup/></Response>`);
          const user = await makeUser(service, name, { answer_url });
          await callFor(service, user, 4, babble(1));
          const log = await timelineOf(service, customer, name);
          const warnings = log.filter(({ kind }) => kind === 'warning');
          expect(JSON.stringify(warnings), name).toContain(warning ?? '[]');
          expect(warnings, name).toHaveLength(warning === undefined ? 0 : 1);
          if (elements.includes('<Stream'))
            expect(
              log.map(({ text }) => text),
              name,
            ).toContain('connected');
        }
        const refused = await service.api('POST', 'Application/', {
          app_name: 'agent',
          application_type: 'agent',
          agent: { instructions: 'x', model: { type: 'gemini-live' } },
        });
        expect(refused.status).toBe(400);
        expect(refused.body['message']).toContain('the environment variable GEMINI_API_KEY');
      } finally {
        await service.stop();
        await customer.close();
        removePlace(place);
      }
    },
  );

  it.each([
    [{ CARILLON_SPEECH_ENGINE: 'flite' }, 'flite not installed: sudo apt-get install flite'],
    [
      { CARILLON_RECOGNITION_ENGINE: 'pocketsphinx' },
      'sudo apt-get install pocketsphinx pocketsphinx-en-us',
    ],
  ])('warns at the start if %j selects a missing part', async (setting, text) => {
    const place = await newPlace(setting);
    const node = nodeWithout(['flite', 'pocketsphinx'], newFolder());
    const service = await Service.start(place, undefined, node);
    try {
      expect(service.program.stdout).toMatch(new RegExp(`"level":"warn".*${text}`));
    } finally {
      await service.stop();
      removePlace(place);
    }
  });

  it('does not start with PostgreSQL without its library, and names the package', async () => {
    const { environment } = await newPlace({ CARILLON_STORE_URL: 'postgres://127.0.0.1:1/none' });
    const program = new Program('src/main.ts', [], environment, {
      node: nodeWithout(['libpq'], newFolder()),
    });
    expect(await program.exited).not.toBe(0);
    expect(program.output).toContain('sudo apt-get install libpq5');
  });
});

it.skipIf(!canHide)('a rehearsal with spoken text names the missing synthesizer', async () => {
  const folder = newFolder();
  const file = join(folder, 'rehearsal.yaml');
  writeFileSync(file, 'bot: { stream: "ws://127.0.0.1:1/" }\nsteps: [{ say: Hello }]\n');
  const node = nodeWithout(['espeak-ng'], folder);
  const program = new Program('src/cli/main.ts', ['rehearse', file], {}, { node });
  expect(await program.exited).toBe(1);
  expect(program.output).toContain('espeak-ng');
  expect(program.output).toContain('sudo apt-get install espeak-ng');
});
