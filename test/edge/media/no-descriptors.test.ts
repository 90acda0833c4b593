/** The native objects in a process without free file descriptors, or with a descriptor that cannot be watched. */
import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ADDON } from '../../../src/base/native-addon.ts';

/** Runs a script in a process with at most 100 descriptors. Returns the JSON that it prints. */
function run(script: string): unknown {
  const shell = `ulimit -n 100 && exec "$0" -e "$1"`;
  const { status, signal, stdout, stderr } = spawnSync(
    'sh',
    ['-c', shell, process.execPath, script],
    {
      encoding: 'utf8',
      timeout: 60_000,
    },
  );
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  return JSON.parse(stdout);
}

const PRELUDE = `
  const { openSync, closeSync } = require('node:fs');
  const { Engine, Sockets, SignalSocket } = require(${JSON.stringify(ADDON)});
  const ignore = () => undefined;
  const makeSocket = () =>
    new SignalSocket({ host: '127.0.0.1', port: 0, receiveBuffer: 0, sendBuffer: 0 }, ignore, ignore);
`;

it.each([
  ['the media engine', `const made = new Engine(false, '127.0.0.1', ignore, 2, true); made.stop()`],
  ['the stream sockets', `const made = new Sockets(ignore, 2); made.stop()`],
  ['a signalling socket', `makeSocket().close()`],
])('without free descriptors, %s fails with EMFILE and works later', (_name, make) => {
  const outcomes = run(`${PRELUDE}
    const held = [];
    try {
      for (;;) held.push(openSync('/dev/null'));
    } catch {}
    const outcomes = [];
    while (outcomes.at(-1) !== 'works' && held.length > 0) {
      try {
        ${make};
        outcomes.push('works');
      } catch (error) {
        outcomes.push(error.code + ' ' + error.message);
        closeSync(held.pop());
      }
    }
    console.log(JSON.stringify(outcomes));
  `) as string[];
  expect(outcomes.length).toBeGreaterThan(1);
  expect(outcomes.pop()).toBe('works');
  for (const outcome of outcomes) expect(outcome).toMatch(/^EMFILE .*[Tt]oo many open files$/);
});

it('a signalling socket whose descriptor cannot be watched fails with an error', () => {
  const outcome = run(`${PRELUDE}
    const lowest = openSync('/dev/null');
    closeSync(lowest);
    makeSocket();
    // The event loop still watches this number, and the next socket gets it.
    closeSync(lowest);
    try {
      makeSocket();
      console.log(JSON.stringify('works'));
    } catch (error) {
      console.log(JSON.stringify(error.code + ' ' + error.message));
    }
    process.exit(0);
  `);
  expect(outcome).toBe('EEXIST the socket cannot be watched: File exists');
});
