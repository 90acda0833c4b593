import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readOptions } from '../../src/phone/options.ts';

let dataDir = '';
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'carillon-phone-'));
  writeFileSync(
    join(dataDir, 'demo.json'),
    JSON.stringify({
      sipHost: '127.0.0.1',
      sipPort: 5060,
      username: 'demo1234',
      password: 'secret',
      dial: '1000',
      baseUrl: 'http://127.0.0.1:8080',
      authId: 'MA_0123456789ABCDEFG',
      authToken: 'token',
    }),
  );
});
afterAll(() => rmSync(dataDir, { recursive: true }));

const read = (...argv: string[]) => readOptions(argv, { CARILLON_DATA_DIR: dataDir });

describe('phone options', () => {
  it('need only the file that the first start wrote', () => {
    expect(read()).toMatchObject({
      sipHost: '127.0.0.1',
      sipPort: 5060,
      username: 'demo1234',
      dial: '1000',
      codec: 'PCMU',
      transport: 'udp',
      authToken: 'token',
    });
  });

  it('prefer arguments to the environment, and the environment to the file', () => {
    const env = { CARILLON_DATA_DIR: dataDir, PHONE_USER: 'bob', PHONE_SERVER: 'pbx.example:5080' };
    expect(readOptions(['--user', 'carol', '--to', 'dave'], env)).toMatchObject({
      username: 'carol',
      sipHost: 'pbx.example',
      sipPort: 5080,
      dial: 'dave',
    });
  });

  it.each([
    ['[::1]:5070', '::1', 5070],
    ['pbx.example', 'pbx.example', 5060],
  ])('--server %s', (text, sipHost, sipPort) => {
    expect(read('--server', text)).toMatchObject({ sipHost, sipPort });
  });

  it.each([
    [['--codec', 'opus'], '--codec'],
    [['--transport', 'tls'], '--transport'],
    [['--dtmf', '12x'], '--dtmf'],
    [['--seconds', 'soon'], '--seconds'],
    [['--server', 'a b:c'], '--server'],
    [['--nonsense'], '--nonsense'],
  ])('refuse %j in one line that names the option', (argv, option) => {
    expect(() => read(...argv)).toThrow(option);
  });

  it('explain what to do if no service was ever started', () => {
    expect(() => readOptions([], { CARILLON_DATA_DIR: '/nowhere' })).toThrow('npm start');
  });

  it('request the usage with --help', () => {
    expect(read('--help')).toBe('help');
  });
});
