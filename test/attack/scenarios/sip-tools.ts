/**
 * Methods of public SIP attack tools (SIPVicious, sipp scripts, metasploit modules): scans, enumeration of users by status
 * and time, relaying by Route and Via, hijacked registrations, and calls without credentials.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Field, Figure, Scenario } from '../scenario.ts';

const ANSWER_MS = 2000;
/** Pause between requests in ms, below the budget of one address. */
const GAP_MS = 60;
const ROUNDS = { quick: 12, full: 60 } as const;
/** Difference in ms between the median times of known and unknown users that a scanner could use. */
const TELLING_MS = 3;

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly ms: number;
}

/** A scanner at its own address. */
class Scanner {
  readonly #socket: Socket;
  readonly #target: number;
  readonly #address: string;
  #sequence = 0;

  private constructor(socket: Socket, address: string, target: number) {
    this.#socket = socket;
    this.#address = address;
    this.#target = target;
  }

  static async at(address: string, target: number): Promise<Scanner> {
    const socket = createSocket('udp4');
    socket.bind(0, address);
    await once(socket, 'listening');
    return new Scanner(socket, address, target);
  }

  close(): void {
    this.#socket.close();
  }

  /** Sends a request and returns its first final response, or undefined. `more` are further header fields. */
  async send(
    method: string,
    user: string,
    more: readonly string[] = [],
    via = `${this.#address}:${this.#socket.address().port}`,
  ): Promise<Answer | undefined> {
    await pause(GAP_MS);
    this.#sequence += 1;
    const id = `scan-${this.#sequence}-${this.#socket.address().port}`;
    const request = [
      `${method} sip:${user}@127.0.0.1:${this.#target} SIP/2.0`,
      `Via: SIP/2.0/UDP ${via};branch=z9hG4bK${id};rport`,
      `From: <sip:${user}@127.0.0.1>;tag=${id}`,
      `To: <sip:${user}@127.0.0.1>`,
      `Call-ID: ${id}`,
      `CSeq: 1 ${method}`,
      `Contact: <sip:${user}@${via}>`,
      'Max-Forwards: 70',
      'User-Agent: friendly-scanner',
      ...more,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');
    const sentMs = performance.now();
    this.#socket.send(request, this.#target, '127.0.0.1');
    const limit = AbortSignal.timeout(ANSWER_MS);
    try {
      for (;;) {
        const [bytes] = (await once(this.#socket, 'message', { signal: limit })) as [Buffer];
        const text = bytes.toString('latin1');
        const status = Number(/^SIP\/2.0 (\d{3})/.exec(text)?.[1] ?? 0);
        if (text.includes(id) && status >= 200)
          return { status, text, ms: performance.now() - sentMs };
      }
    } catch {
      return undefined;
    }
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** SIPVicious svwar: whether responses tell a known user from an unknown one. */
async function enumeration(field: Field, scanner: Scanner): Promise<readonly Figure[]> {
  const rounds = field.quick ? ROUNDS.quick : ROUNDS.full;
  const figures: Figure[] = [];
  for (const method of ['REGISTER', 'INVITE', 'OPTIONS', 'SUBSCRIBE', 'MESSAGE']) {
    const known: Answer[] = [];
    const unknown: Answer[] = [];
    for (let round = 0; round < rounds && !field.over.aborted; round += 1) {
      const first = await scanner.send(method, field.username);
      const second = await scanner.send(method, `nobody${round}`);
      if (first !== undefined && second !== undefined) {
        known.push(first);
        unknown.push(second);
      }
    }
    const statuses = (answers: readonly Answer[]): string =>
      [...new Set(answers.map(({ status }) => status))].sort().join(',');
    const differs = known.length > 0 && statuses(known) !== statuses(unknown);
    figures.push({
      name: `${method}: statuses differ for known and unknown users`,
      value: differs ? 1 : 0,
      unit: `(${statuses(known)} / ${statuses(unknown)})`,
      atMost: 0,
    });
    const differenceMs = Math.abs(
      median(known.map(({ ms }) => ms)) - median(unknown.map(({ ms }) => ms)),
    );
    figures.push({
      name: `${method}: difference of their times`,
      value: known.length === 0 ? 0 : differenceMs,
      unit: 'ms',
      atMost: TELLING_MS,
    });
  }
  return figures;
}

/** A host that must not receive anything. */
async function victim(): Promise<{ readonly at: string; received(): number; close(): void }> {
  const socket = createSocket('udp4');
  let received = 0;
  socket.on('message', () => {
    received += 1;
  });
  socket.bind(0, '127.0.0.66');
  await once(socket, 'listening');
  return {
    at: `127.0.0.66:${socket.address().port}`,
    received: () => received,
    close: () => socket.close(),
  };
}

export const scenario: Scenario = {
  about: 'methods of public SIP tools: scans, enumeration, relaying, hijacked registrations',
  async attack(field) {
    const { sipPort } = field.service;
    const scanner = await Scanner.at('127.0.0.50', sipPort);
    const target = await victim();
    const route = [`Route: <sip:${target.at};lr>`];
    const statuses: number[] = [];
    const texts: string[] = [];
    const add = (answer: Answer | undefined): void => {
      if (answer === undefined) return;
      statuses.push(answer.status);
      texts.push(answer.text);
    };
    try {
      for (const method of ['INVITE', 'REGISTER', 'MESSAGE', 'REFER', 'NOTIFY', 'BYE']) {
        add(await scanner.send(method, field.username, route));
        add(await scanner.send(method, field.username, [], target.at));
        add(await scanner.send(method, `x%40${target.at}`));
        add(await scanner.send(method, `a;maddr=${target.at.split(':')[0]}`));
      }
      add(await scanner.send('REGISTER', field.username, ['Expires: 0', 'Contact: *']));
      add(await scanner.send('REFER', field.username, [`Refer-To: <sip:x@${target.at}>`]));
      add(await scanner.send('INVITE', field.username, [`Replaces: a;to-tag=b;from-tag=c`]));
      add(
        await scanner.send('INVITE', field.username, [
          `P-Asserted-Identity: <sip:${field.username}@127.0.0.1>`,
          `Record-Route: <sip:${target.at};lr>`,
        ]),
      );
      const figures = await enumeration(field, scanner);
      return [
        { name: 'requests answered', value: statuses.length, unit: '', atLeast: 5 },
        {
          name: 'requests without credentials that succeeded',
          value: statuses.filter((status) => status < 300).length,
          unit: '',
          atMost: 0,
        },
        { name: 'packets to a third host', value: target.received(), unit: '', atMost: 0 },
        {
          name: 'responses that name a version',
          value: texts.filter((text) => /^(Server|User-Agent):.*\d+\.\d+/im.test(text)).length,
          unit: '',
          atMost: 0,
        },
        ...figures,
      ];
    } finally {
      scanner.close();
      target.close();
    }
  },
};
