import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { firstAgent, readAgentFile } from '../../src/agent/agent-file.ts';
import { loadSounds } from '../../src/agent/sounds.ts';
import { FileFaults } from '../../src/config/checked-file.ts';
import { writeWav } from '../../src/phone/audio/wav.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-agent-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'agent.yaml');

const read = (
  text: string | Buffer,
  environment = { OPENAI_API_KEY: 'sk' } as Record<string, string>,
) => {
  writeFileSync(file, text);
  return readAgentFile(file, environment);
};
/** Faults without the name of the folder. */
function faults(text: string | Buffer, environment?: Record<string, string>): readonly string[] {
  try {
    read(text, environment);
  } catch (error) {
    if (error instanceof FileFaults)
      return error.faults.map((fault) => fault.replaceAll(`${folder}/`, ''));
    throw error;
  }
  return [];
}

const HEAD = 'name: reception\ninstructions: Be brief.\n';
const OPENAI = `${HEAD}model:\n  type: openai-realtime\n`;

describe('agent files', () => {
  it('have defaults, and take the key from the environment', () => {
    const agent = read(`${OPENAI}greeting: Hello.\n`);
    expect(agent).toMatchObject({
      greeting: 'Hello.',
      model: { type: 'openai-realtime', apiKey: 'sk', dialect: 'current' },
      limits: { minutes: 30, answerSeconds: 10 },
      interruption: 'clear',
      listen: { host: '127.0.0.1', port: 8090 },
    });
    expect(agent.fallback.say).not.toBe('');
  });

  it('use OPENAI_BASE_URL as the base of the vendor', () => {
    const base = 'https://ai.example/v1/';
    const agent = read(OPENAI, { OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: base });
    expect(agent.model.url).toBe('wss://ai.example/v1/realtime');
    expect(faults(OPENAI, { OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: 'ai.example' })).toEqual([
      'agent.yaml:4: model.url: the environment variable OPENAI_BASE_URL is not a valid URL',
    ]);
  });

  it('are not needed with the key of a vendor in the environment', () => {
    expect(firstAgent({ GEMINI_API_KEY: 'g' }, 'Be brief.')).toMatchObject({
      name: 'assistant',
      instructions: 'Be brief.',
      model: { type: 'gemini-live', apiKey: 'g' },
      limits: { minutes: 30 },
    });
    expect(firstAgent({ OPENAI_API_KEY: 'o' }).model).toMatchObject({ type: 'openai-realtime' });
    expect(() => firstAgent({})).toThrow(
      'set the environment variable OPENAI_API_KEY or GEMINI_API_KEY',
    );
  });

  it('replace variables', () => {
    const agent = read(`${OPENAI}  apiKey: \${MY_KEY}\n`, { MY_KEY: 'sk-2' });
    expect(agent.model.apiKey).toBe('sk-2');
  });

  it.each([
    [
      '',
      [
        'agent.yaml:1: name: is missing',
        'agent.yaml:1: instructions: is missing',
        'agent.yaml:1: model: is missing',
      ],
    ],
    [`${OPENAI}  voise: alloy\n`, ['agent.yaml:5: model.voise: is not a known field']],
    [
      `${HEAD}model:\n  type: openai\n`,
      ['agent.yaml:4: model.type: must be one of openai-realtime, gemini-live, pipeline'],
    ],
    [
      `${OPENAI}listen:\n  host: 0.0.0.0\n`,
      ['agent.yaml:6: listen.password: is missing; addresses other than loopback need it'],
    ],
    [`${OPENAI}limits:\n  minutes: 0\n`, ['agent.yaml:6: limits.minutes: must be >= 0.1']],
    [
      `${OPENAI}limits:\n  cost: 1\n`,
      ['agent.yaml:6: limits.cost: needs `prices`, in the same currency'],
    ],
    [
      `${OPENAI}  chat: { url: http://a/, model: m }\n`,
      ['agent.yaml:5: model.chat: is valid only with the type pipeline'],
    ],
    [`${OPENAI}  url: "ws://["\n`, ['agent.yaml:5: model.url: is not a valid URL']],
    [
      `${OPENAI}tools:\n  - { name: a, type: http, description: d }\n  - { name: a, type: hangup, description: d, to: ["1"] }\n`,
      [
        'agent.yaml:6: tools[0].url: is missing; tools of type http need it',
        'agent.yaml:7: tools[1].name: "a" is used twice',
        'agent.yaml:7: tools[1].to: is valid only for tools of type transfer',
      ],
    ],
    [
      `${HEAD}model:\n  type: pipeline\n  recognizer: { type: http, url: "ws://a/" }\n`,
      [
        'agent.yaml:4: model.chat: is missing; the type pipeline needs it',
        'agent.yaml:4: model.speech: is missing; the type pipeline needs it',
        'agent.yaml:5: model.recognizer.url: must begin with http:// or https://',
      ],
    ],
    [
      `${OPENAI}  apiKey: \${NO_SUCH}\n`,
      ['agent.yaml:5: model.apiKey: the environment variable NO_SUCH is not set'],
    ],
  ])('refuse %j', (text, expected) => {
    expect(faults(text)).toEqual(expected);
  });

  it('refuse a missing key, broken YAML and missing files', () => {
    expect(faults(OPENAI, {})).toEqual([
      'agent.yaml:4: model.apiKey: is missing: set it, or the environment variable OPENAI_API_KEY',
    ]);
    expect(faults('name: [')[0]).toMatch(/^cannot read agent.yaml:1: /);
    expect(() => readAgentFile(join(folder, 'none.yaml'), {})).toThrow(/cannot read .*none.yaml/);
  });

  const bomb = Array.from(
    { length: 9 },
    (_, i) =>
      `k${i}: &k${i} [${Array(9)
        .fill(i === 0 ? 'x' : `*k${i - 1}`)
        .join(',')}]`,
  ).join('\n');
  it.each([
    ['a key twice', `${OPENAI}name: b\n`, 'cannot read agent.yaml:5: name: is set twice'],
    [
      'a JSON key twice',
      '{"name": "a",\n"name": "b"}',
      'cannot read agent.yaml:2: name: is set twice',
    ],
    ['tabs', 'name: a\n\tinstructions: b\n', 'cannot read agent.yaml:2: Tabs are not allowed'],
    [
      'many aliases',
      `${OPENAI}${bomb}`,
      'cannot read agent.yaml: an alias contains itself or too many others',
    ],
    ['an alias of itself', 'name: &a [*a]\n', 'cannot read agent.yaml: an alias contains itself'],
    [
      'an unknown alias',
      'name: a\nmodel: *b\n',
      'cannot read agent.yaml:2: the alias *b has no anchor',
    ],
    ['a merge key', `x: &x {}\n${OPENAI}  <<: *x\n`, 'agent.yaml:1: x: is not a known field'],
    ['wrong types', `name: 12\n${OPENAI.slice(16)}`, 'agent.yaml:1: name: must be a string'],
    ['an unknown field', `${OPENAI}grüße: 🙂\n`, 'agent.yaml:5: grüße: is not a known field'],
    [
      'CRLF',
      `${OPENAI}limits: 1\n`.replaceAll('\n', '\r\n'),
      'agent.yaml:5: limits: must be an object',
    ],
    ['a byte order mark', `\ufeff${OPENAI}x: 1\n`, 'agent.yaml:5: x: is not a known field'],
    ['UTF-16', Buffer.from(`\ufeff${OPENAI}`, 'utf16le'), 'cannot read agent.yaml:1: is not UTF-8'],
    [
      'Latin-1',
      Buffer.from(`${OPENAI}greeting: Grüß\n`, 'latin1'),
      'cannot read agent.yaml:5: is not UTF-8',
    ],
    [
      'two documents',
      `${OPENAI}---\n${OPENAI}`,
      'cannot read agent.yaml:5: contains several documents',
    ],
    ['a tag', `${OPENAI}greeting: !!js/function "x"\n`, 'cannot read agent.yaml:5: Unresolved tag'],
    [
      'deep nesting',
      `name: ${'['.repeat(200_000)}`,
      'cannot read agent.yaml:1: is nested too deeply',
    ],
    ['a list', '- a\n', 'agent.yaml must contain one object'],
    ['a text', 'hello\n', 'agent.yaml must contain one object'],
    [
      '10 MB',
      `${OPENAI}greeting: ${'x'.repeat(10_000_000)}\n`,
      'cannot read agent.yaml: has 10000',
    ],
    ['a prototype', `${OPENAI}__proto__:\n  x: 1\n`, '__proto__: is not a known field'],
    [
      'not a number',
      `${OPENAI}limits:\n  minutes: .nan\n`,
      'agent.yaml:6: limits.minutes: must be a number',
    ],
    [
      'infinity',
      `${OPENAI}limits:\n  minutes: .inf\n`,
      'agent.yaml:6: limits.minutes: must be a number',
    ],
    ['null', `name: ~\n${OPENAI.slice(16)}`, 'agent.yaml:1: name: must be a string'],
    ['an open quote', 'name: "abc\n', 'cannot read agent.yaml:2: Missing closing'],
    [
      'a NUL',
      `name: "a\\0"\n${OPENAI.slice(16)}`,
      'agent.yaml:1: name: must have 1 to 50 of the characters a-z A-Z 0-9 _ - and begin with a letter or digit',
    ],
  ])('refuse %s with file, line and field', (_, text, expected) => {
    const startMs = performance.now();
    expect(faults(text).join('\n')).toContain(expected);
    expect(performance.now() - startMs).toBeLessThan(3000);
  });

  it('load sounds of tools', () => {
    writeFileSync(join(folder, 'menu.wav'), writeWav({ rate: 8000, samples: new Int16Array(80) }));
    const tool = (name: string) =>
      `${OPENAI}tools:\n  - { name: menu, type: play, description: d, file: ${name} }\n`;
    expect(loadSounds(file, read(tool('menu.wav'))).get('menu')).toHaveLength(160);
    expect(() => loadSounds(file, read(tool('no.wav')))).toThrow(/tool menu: file: cannot read it/);
    expect(() => loadSounds(file, read(tool('agent.yaml')))).toThrow(/not a WAV file/);
  });
});
