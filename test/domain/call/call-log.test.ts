import { expect, it } from 'vitest';
import { asAccountId, asCallUuid } from '../../../src/base/ids.ts';
import { type CallLog, CallLogs } from '../../../src/domain/call/call.ts';

const OWNER = asAccountId('MA_1');
let nowMs = 0;
const clock = { monotonicMs: () => nowMs, wallMs: () => nowMs };

const logsOf = (calls: number, retentionMs = 1000): CallLogs =>
  new CallLogs({ entries: 10, retentionMs, calls }, clock);
const open = (logs: CallLogs, name: string): CallLog => logs.open(asCallUuid(name), OWNER);
const known = (logs: CallLogs, names: string): string =>
  [...names].filter((name) => logs.get(asCallUuid(name)) !== undefined).join('');

it('drops the log of the earliest ended call when the limit is reached', () => {
  const logs = logsOf(4);
  open(logs, 'a');
  const b = open(logs, 'b');
  open(logs, 'c').close();
  b.close();
  open(logs, 'd');
  expect(known(logs, 'abcd')).toBe('abcd');
  open(logs, 'e');
  expect(known(logs, 'abcde')).toBe('abde');
  open(logs, 'f');
  open(logs, 'g');
  // Logs of active calls are kept regardless of the limit.
  expect(known(logs, 'abcdefg')).toBe('adefg');
});

it('drops the log of a call that ended long ago, even after an older call that is still active', () => {
  nowMs = 0;
  const logs = logsOf(100);
  open(logs, 'a');
  open(logs, 'b').close();
  nowMs = 1000;
  open(logs, 'c').close();
  expect(known(logs, 'abc')).toBe('abc');
  nowMs = 1001;
  open(logs, 'd');
  expect(known(logs, 'abcd')).toBe('acd');
});
