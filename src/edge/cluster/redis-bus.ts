/** Messages between nodes over Redis publish/subscribe. A request gets a response within a time limit, or fails. */
import type { Clock } from '../../base/clock.ts';
import { isBug, ServiceError, type ServiceErrorCode } from '../../base/errors.ts';
import { type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Bus, Hears } from '../../domain/cluster/needs.ts';
import type { RedisLink } from './redis-link.ts';

/** Maximum number of pending requests. */
const MAX_OPEN = 10_000;
/** Maximum length of a message, characters. */
const MAX_MESSAGE = 32 * 2 ** 20;

export interface RedisBusNeeds {
  readonly redis: Pick<RedisLink, 'send' | 'subscribe'>;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly answerMs: number;
}

type Message =
  | { readonly ask: string; readonly from: string; readonly what: string; readonly given: unknown }
  | { readonly answer: string; readonly value?: unknown }
  | { readonly answer: string; readonly code: ServiceErrorCode | 'BUG'; readonly error: string }
  | { readonly tell: string; readonly from: string; readonly given: unknown };

interface Open {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class RedisBus implements Bus {
  readonly #needs: RedisBusNeeds;
  readonly #open = new Map<string, Open>();
  readonly #answers = new Map<string, (...given: never[]) => Promise<unknown>>();
  readonly #listeners = new Map<string, Hears>();

  constructor(needs: RedisBusNeeds) {
    this.#needs = needs;
  }

  async start(): Promise<void> {
    const { redis, nodeId } = this.#needs;
    for (const channel of [channelOf(nodeId), ALL])
      await redis.subscribe(channel, (text) => this.#received(text));
  }

  answer(what: string, by: (...given: never[]) => Promise<unknown>): void {
    this.#answers.set(what, by);
  }

  hear(what: string, by: Hears): void {
    this.#listeners.set(what, by);
  }

  async ask(node: string, what: string, given: readonly unknown[]): Promise<unknown> {
    const { random, nodeId, clock, answerMs } = this.#needs;
    if (this.#open.size >= MAX_OPEN)
      throw new ServiceError('NODE_UNREACHABLE', 'too many pending requests to other nodes');
    const id = uuid(random);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    promise.catch(() => undefined); // the request may fail before the caller awaits it
    this.#open.set(id, { resolve, reject });
    const silent = (): void =>
      reject(new ServiceError('NODE_UNREACHABLE', `node ${node} does not answer`));
    const cancel = clock.at(clock.monotonicMs() + answerMs, silent);
    try {
      const received = await this.#publish(channelOf(node), { ask: id, from: nodeId, what, given });
      if (received === 0) silent();
      return await promise;
    } finally {
      cancel();
      this.#open.delete(id);
    }
  }

  notify(what: string, given: unknown): void {
    const { nodeId, logger } = this.#needs;
    this.#publish(ALL, { tell: what, from: nodeId, given }).catch((error: unknown) => {
      logger.warn({ error, what }, 'could not notify other nodes');
    });
  }

  /** Publishes a message. Returns the number of receivers. */
  async #publish(channel: string, message: Message): Promise<number> {
    return Number(await this.#needs.redis.send('PUBLISH', channel, write(message)));
  }

  #received(text: string): void {
    const { logger, nodeId } = this.#needs;
    let message: Message;
    try {
      if (text.length > MAX_MESSAGE) throw new RangeError('too long');
      message = read(text) as Message;
    } catch (error) {
      logger.warn({ error }, 'invalid message from another node');
      return;
    }
    if ('ask' in message) void this.#answered(message);
    else if ('tell' in message) {
      if (message.from !== nodeId) this.#listeners.get(message.tell)?.(message.given, message.from);
    } else {
      const open = this.#open.get(message.answer);
      if ('code' in message) {
        const { code, error } = message;
        open?.reject(code === 'BUG' ? new Error(error) : new ServiceError(code, error));
      } else open?.resolve(message.value);
    }
  }

  /** Runs a request of another node and sends the response. Never rejects. */
  async #answered({ ask, from, what, given }: Extract<Message, { ask: string }>): Promise<void> {
    const { logger } = this.#needs;
    let reply: Message;
    try {
      const by = this.#answers.get(what);
      if (by === undefined || !Array.isArray(given))
        throw new ServiceError('NODE_UNREACHABLE', `this node cannot answer ${what}`);
      reply = { answer: ask, value: await by(...(given as never[])) };
    } catch (error) {
      if (isBug(error)) logger.error({ error, what, from }, 'request of another node failed');
      const code = error instanceof ServiceError ? error.code : 'BUG';
      reply = { answer: ask, code, error: error instanceof Error ? error.message : String(error) };
    }
    await this.#publish(channelOf(from), reply).catch((error: unknown) => {
      logger.warn({ error, what, from }, 'could not send a response to another node');
    });
  }
}

const ALL = 'carillon:nodes';
const channelOf = (nodeId: string): string => `carillon:node:${nodeId}`;

/** Encodes a message as JSON, with bytes as base64. */
const write = (message: Message): string =>
  JSON.stringify(message, (_, value: unknown) =>
    isBuffer(value) ? { $bytes: Buffer.from(value.data).toString('base64') } : value,
  );

const read = (text: string): unknown =>
  JSON.parse(text, (_, value: unknown) =>
    isBytes(value) ? Buffer.from(value.$bytes, 'base64') : value,
  );

/** Detects a Buffer in the form that `JSON.stringify` passes to the replacer. */
const isBuffer = (value: unknown): value is { readonly data: number[] } =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';

const isBytes = (value: unknown): value is { readonly $bytes: string } =>
  typeof value === 'object' && value !== null && '$bytes' in value;
