import { expect, it } from 'vitest';
import {
  type AccountId,
  type AppId,
  asAccountId,
  type CallUuid,
  digits,
  type EndpointId,
  isUuid,
  newAccountId,
  newCallUuid,
  type RecordingId,
  type RequestUuid,
  type StreamId,
  type TrunkId,
  token,
  uuid,
} from '../../src/base/ids.ts';
import { systemRandom } from '../../src/base/system-random.ts';
import type { LegHandle, RoomHandle, StreamHandle } from '../../src/edge/media/native.ts';
import { SimRandom } from '../sim/random.ts';

interface Ids {
  readonly account: AccountId;
  readonly call: CallUuid;
  readonly request: RequestUuid;
  readonly recording: RecordingId;
  readonly stream: StreamId;
  readonly application: AppId;
  readonly endpoint: EndpointId;
  readonly trunk: TrunkId;
}

/** Never called. The compiler checks these lines and reports an expected error that does not occur. */
function swapped(ids: Ids): void {
  const { account, call, request, recording, stream, application, endpoint, trunk } = ids;
  const ofAccount = (id: AccountId): AccountId => id;
  ofAccount(account);
  // @ts-expect-error plain text is not an account ID
  ofAccount('MA_ONE');
  const of = (_account: AccountId, _recording: RecordingId, _stream: StreamId): void => undefined;
  of(account, recording, stream);
  // @ts-expect-error account and recording
  of(recording, account, stream);
  // @ts-expect-error recording and stream
  of(account, stream, recording);
  const ofCall = (id: CallUuid): CallUuid => id;
  ofCall(call);
  // @ts-expect-error a request may be of many calls
  ofCall(request);
  // @ts-expect-error account and call
  ofCall(account);
  const bound = (_application: AppId, _endpoint: EndpointId, _trunk: TrunkId): void => undefined;
  bound(application, endpoint, trunk);
  // @ts-expect-error endpoint and trunk
  bound(application, trunk, endpoint);
  // @ts-expect-error a plain number is not an application ID
  bound(7, endpoint, trunk);
  // An ID is still a string.
  account.startsWith('MA_');
}

function swappedHandles(leg: LegHandle, room: RoomHandle, stream: StreamHandle): void {
  const join = (_room: RoomHandle, _leg: LegHandle): void => undefined;
  join(room, leg);
  // @ts-expect-error room and leg
  join(leg, room);
  // @ts-expect-error stream and leg
  join(room, stream);
}

it('keeps the text of an identifier', () => {
  expect(asAccountId('MA_ONE')).toBe('MA_ONE');
  expect(swapped).toBeTypeOf('function');
  expect(swappedHandles).toBeTypeOf('function');
  expect(newAccountId(new SimRandom(1), 'SA')).toMatch(/^SA_[A-Z0-9]{17}$/);
});

it('creates call UUIDs that start with their time, have version 4 and are unique', () => {
  const wallMs = Date.UTC(2026, 10, 23);
  const uuids = Array.from({ length: 1000 }, (_, index) =>
    newCallUuid(systemRandom, wallMs + index),
  );
  expect(uuids.every(isUuid)).toBe(true);
  expect(uuids.every((one) => /^.{14}4.{4}[89ab]/.test(one))).toBe(true);
  expect(Number.parseInt((uuids[0] ?? '').replaceAll('-', '').slice(0, 12), 16)).toBe(wallMs);
  expect([...uuids].sort()).toEqual(uuids);
  const atOnce = Array.from({ length: 1000 }, () => newCallUuid(systemRandom, wallMs));
  expect(new Set(atOnce).size).toBe(1000);
});

it('writes each byte of a UUID in order and sets version and variant', () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, index) => index * 17);
  const random = { bytes: () => bytes, integer: () => 0 };
  expect(uuid(random)).toBe('00112233-4455-4677-8899-aabbccddeeff');
});

it('draws every letter again, regardless of the buffer content', () => {
  const drawn = (integer: () => number) => ({ bytes: () => new Uint8Array(), integer });
  expect(token(drawn(() => 61))).toBe('9'.repeat(44));
  expect(
    digits(
      drawn(() => 0),
      3,
    ),
  ).toBe('100');
  expect(
    token(
      drawn(() => 0),
      8,
    ),
  ).toBe('AA');
  expect(() =>
    token(
      drawn(() => 0),
      10_000,
    ),
  ).toThrow(RangeError);
});
