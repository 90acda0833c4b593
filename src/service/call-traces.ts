/** Exports one trace per call after its end, built from its record and timeline: SIP messages, elements, callbacks, streams. */
import type { Clock } from '../base/clock.ts';
import type { CallUuid } from '../base/ids.ts';
import { callSpanId, traceIdOf } from '../base/trace-context.ts';
import type { CallLogEntry } from '../domain/call/call.ts';
import type { Cdr } from '../domain/cdr/types.ts';
import type { Attributes, OtlpExporter, Span } from '../edge/telemetry/otlp.ts';

/** A SIP message sent or received. */
interface SeenMessage {
  readonly atUs: number;
  readonly direction: 'in' | 'out';
  readonly text: string;
}

export interface CallTraceParts {
  readonly exporter: Pick<OtlpExporter, 'add' | 'stop'>;
  readonly timelineOf: (callUuid: CallUuid) => readonly CallLogEntry[];
  readonly messagesOf: (callUuid: CallUuid) => readonly SeenMessage[];
  readonly clock: Clock;
}

/** Time after the end of a call in which events still belong to it: the hangup notification and its response. */
const AFTER_END_MS = 3000;
/** Maximum number of calls waiting for `AFTER_END_MS`. Further calls are exported immediately. */
const MAX_WAITING = 10_000;
const MAX_TEXT = 1000;
const MAX_EVENTS = 200;

export class CallTraces {
  readonly #parts: CallTraceParts;
  readonly #waiting = new Map<Cdr, () => void>();

  constructor(parts: CallTraceParts) {
    this.#parts = parts;
  }

  /** Exports an ended call. A leg of a `Dial` becomes a span within its parent call. */
  ended(cdr: Cdr): void {
    const { clock } = this.#parts;
    if (this.#waiting.size >= MAX_WAITING) {
      this.#notify(cdr);
      return;
    }
    const cancel = clock.at(clock.monotonicMs() + AFTER_END_MS, () => this.#notify(cdr));
    this.#waiting.set(cdr, cancel);
  }

  /** Exports all waiting calls. */
  async stop(): Promise<void> {
    for (const [cdr, cancel] of this.#waiting) {
      cancel();
      this.#notify(cdr);
    }
    await this.#parts.exporter.stop();
  }

  #notify(cdr: Cdr): void {
    this.#waiting.delete(cdr);
    const { exporter, timelineOf, messagesOf } = this.#parts;
    const timeline = timelineOf(cdr.callUuid);
    const calls = timeline.filter(
      ({ kind, facts }) => kind === 'callback' && 'durationMs' in facts,
    );
    const { callUuid, parentCallUuid } = cdr;
    const of = {
      traceId: traceIdOf(parentCallUuid ?? callUuid),
      parentSpanId: callSpanId(callUuid),
    };
    const rest = timeline.filter((entry) => !calls.includes(entry));
    exporter.add([
      {
        traceId: of.traceId,
        spanId: of.parentSpanId,
        parentSpanId: parentCallUuid && callSpanId(parentCallUuid),
        name: `call ${cdr.direction}`,
        kind: cdr.direction === 'inbound' ? 'server' : 'client',
        startUs: cdr.startUs,
        endUs: cdr.endUs,
        attributes: factsOf(cdr),
        error: cdr.answerUs === undefined ? cdr.hangupCauseName : undefined,
        events: rest.slice(0, MAX_EVENTS).map(({ kind, text, atUs, facts }) => ({
          name: `${kind}: ${text}`,
          atUs,
          attributes: shown(facts),
        })),
      },
      ...calls.map((entry, index) => callbackSpan(of, entry, index)),
      ...sipSpan(of, cdr, messagesOf(callUuid)),
      ...cdr.streams.map((stream, index) => streamSpan(of, stream, index)),
    ]);
  }
}

interface Place {
  readonly traceId: string;
  readonly parentSpanId: string;
}

/** Returns a span ID that is unique within the call: the call's ID with a number in its first digits. */
const numbered = ({ parentSpanId }: Place, group: number, index: number): string =>
  `${group}${(index + 1).toString(16).padStart(7, '0')}${parentSpanId.slice(8)}`;

function callbackSpan(of: Place, { atUs, text, facts }: CallLogEntry, index: number): Span {
  const { durationMs, status, error, spanId, method, url } = facts;
  return {
    ...of,
    spanId: typeof spanId === 'string' ? spanId : numbered(of, 1, index),
    name: `callback ${text}`,
    kind: 'client',
    startUs: atUs - Number(durationMs) * 1000,
    endUs: atUs,
    attributes: {
      'http.request.method': String(method ?? ''),
      'url.full': String(url ?? '').slice(0, MAX_TEXT),
      'http.response.status_code': typeof status === 'number' ? status : undefined,
    },
    error: typeof error === 'string' ? error : undefined,
  };
}

function sipSpan(of: Place, cdr: Cdr, messages: readonly SeenMessage[]): readonly Span[] {
  const [first] = messages;
  if (first === undefined) return [];
  return [
    {
      ...of,
      spanId: numbered(of, 2, 0),
      name: 'SIP',
      kind: cdr.direction === 'inbound' ? 'server' : 'client',
      startUs: first.atUs,
      endUs: messages.at(-1)?.atUs ?? first.atUs,
      attributes: { 'sip.call_id': cdr.sipCallId, 'network.peer.address': cdr.remoteAddress },
      events: messages.slice(0, MAX_EVENTS).map(({ atUs, direction, text }) => ({
        name: `${direction} ${text.slice(0, text.indexOf('\r\n') + 1 || MAX_TEXT).trim()}`,
        atUs,
        attributes: {},
      })),
    },
  ];
}

const streamSpan = (of: Place, stream: Cdr['streams'][number], index: number): Span => ({
  ...of,
  spanId: numbered(of, 3, index),
  name: 'audio stream',
  kind: 'client',
  startUs: stream.startUs,
  endUs: stream.endUs,
  attributes: {
    'carillon.stream_id': stream.streamId,
    'carillon.stream_end': stream.terminationReason,
    'carillon.bidirectional': stream.bidirectional,
  },
});

const factsOf = (cdr: Cdr): Attributes => ({
  'carillon.call_uuid': cdr.callUuid,
  'carillon.account_id': cdr.accountId,
  'carillon.from': cdr.from,
  'carillon.to': cdr.to,
  'carillon.answered': cdr.answerUs !== undefined,
  'carillon.hangup_cause': cdr.hangupCauseName,
  'carillon.hangup_source': cdr.hangupSource,
  'carillon.codec': cdr.codec,
  'carillon.carrier': cdr.carrier,
});

const shown = (facts: Readonly<Record<string, unknown>>): Attributes =>
  Object.fromEntries(
    Object.entries(facts).flatMap(([key, value]): [string, string | number | boolean][] => {
      if (value === undefined) return [];
      if (typeof value === 'number' || typeof value === 'boolean') return [[key, value]];
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return [[key, text.slice(0, MAX_TEXT)]];
    }),
  );
