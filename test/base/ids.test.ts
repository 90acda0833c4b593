import { expect, it } from 'vitest';
import {
  type AccountId,
  asAccountId,
  newAccountId,
  type RecordingId,
  type StreamId,
} from '../../src/base/ids.ts';
import { SimRandom } from '../sim/random.ts';

/** Never called: it is the compiler that checks these lines, and an expected error that is none fails. */
function swapped(account: AccountId, recording: RecordingId, stream: StreamId): void {
  const ofAccount = (id: AccountId): AccountId => id;
  ofAccount(account);
  // @ts-expect-error text that nobody has taken for an account
  ofAccount('MA_ONE');
  const of = (_account: AccountId, _recording: RecordingId, _stream: StreamId): void => undefined;
  of(account, recording, stream);
  // @ts-expect-error account and recording
  of(recording, account, stream);
  // @ts-expect-error recording and stream
  of(account, stream, recording);
  // An identifier is still text.
  account.startsWith('MA_');
}

it('an identifier is the text it was made of', () => {
  expect(asAccountId('MA_ONE')).toBe('MA_ONE');
  expect(swapped).toBeTypeOf('function');
  expect(newAccountId(new SimRandom(1), 'SA')).toMatch(/^SA_[A-Z0-9]{17}$/);
});
