import { expect, it } from 'vitest';
import { ServiceError } from '../../../src/base/errors.ts';
import {
  joinRemote,
  type RemoteJoinNeeds,
  type Wanted,
} from '../../../src/domain/interpreter/conference/remote-join.ts';

/** A leg to the other node that is answered as soon as it is dialled. */
function answeredLink({ dialFails = false } = {}) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const hungUpWith: string[] = [];
  let answered = (): void => undefined;
  const link = {
    ended,
    observe: (events: { answered: () => void }) => {
      answered = events.answered;
      return () => undefined;
    },
    dial: async () => {
      if (dialFails) throw new ServiceError('MEDIA_NO_PORTS', 'no RTP port is free');
      answered();
    },
    hangup: (cause: string) => {
      hungUpWith.push(cause);
      end();
    },
  };
  return { link, hungUpWith };
}

async function join(link: object, ask: (what: string) => Promise<unknown>) {
  const call = new AbortController();
  const needs = {
    bus: { ask: (_node: string, what: string) => ask(what) },
    legs: { joinRemote: () => link },
    nodeId: 'a',
    host: '192.0.2.1',
  };
  const wanted = {
    claim: 'room:MA_ONE:standup',
    goesOn: false,
    instruction: { room: 'standup' },
    context: { call: { identity: {}, facts: {}, price: {} }, signal: call.signal },
  };
  return joinRemote('b', wanted as unknown as Wanted, needs as unknown as RemoteJoinNeeds);
}

const TICKET = { kind: 'ticket', ticket: { username: 'node.1', password: 'p' }, uri: 'sip:b' };

it('leaves no member behind in the conference if the node stops answering after the leg is up', async () => {
  const { link, hungUpWith } = answeredLink();
  const joined = await join(link, async (what) => {
    if (what === 'conference.join') return TICKET;
    throw new ServiceError('NODE_UNREACHABLE', 'no answer');
  });
  expect(joined).toBe('again');
  expect(hungUpWith).toEqual(['normal']);
});

it('ends the leg if it cannot be dialled', async () => {
  const { link, hungUpWith } = answeredLink({ dialFails: true });
  expect(await join(link, async () => TICKET)).toBe('again');
  expect(hungUpWith).toEqual(['normal']);
});
