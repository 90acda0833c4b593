/** Sends alarms to the operator by e-mail and signed webhook. */
import type { Clock } from '../base/clock.ts';
import { hmacSha256 } from '../base/hash.ts';
import type { Mailer } from '../base/mailer.ts';
import { isoMicros } from '../base/time-format.ts';
import type { AlarmChange } from '../domain/alarm/types.ts';

const WEBHOOK_ATTEMPTS = 3;
const WEBHOOK_PAUSE_MS = 2000;
const WEBHOOK_LIMIT_MS = 10_000;

export interface AlarmNotifierParts {
  readonly settings: {
    /** E-mail addresses separated by commas. Empty: no e-mail. */
    readonly email: string;
    /** Webhook URL. Empty: no webhook. */
    readonly webhookUrl: string;
    readonly webhookSecret: string;
  };
  /** Displayed name of the node. */
  readonly node: string;
  readonly mailer: Pick<Mailer, 'send'>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Sends a webhook and returns the response status. Replaced in tests. */
  readonly post?: typeof send;
}

export class AlarmNotifier {
  readonly #parts: AlarmNotifierParts;

  constructor(parts: AlarmNotifierParts) {
    this.#parts = parts;
  }

  /** Whether a recipient is configured. Otherwise alarms appear only in the log. */
  get tellsAnybody(): boolean {
    const { email, webhookUrl } = this.#parts.settings;
    return email !== '' || webhookUrl !== '';
  }

  /** Sends the changes. Rejects if a recipient could not be reached after several attempts, or when `signal` aborts. */
  async notify(changes: readonly AlarmChange[], signal: AbortSignal): Promise<void> {
    await Promise.all([this.#mail(changes), this.#post(changes, signal)]);
  }

  async #mail(changes: readonly AlarmChange[]): Promise<void> {
    const { settings, mailer, node } = this.#parts;
    if (settings.email === '') return;
    const [first] = changes;
    const more = changes.length === 1 ? '' : ` and ${changes.length - 1} more`;
    await mailer.send({
      to: settings.email,
      subject: `[${node}] ${first?.kind} ${first?.state} ${first?.subject ?? ''}${more}`.trim(),
      text: changes
        .map(
          ({ state, kind, subject, detail, sinceUs }) =>
            `${`${state.toUpperCase()} ${kind} ${subject}`.trim()}\n  ${detail}\n  since ${isoMicros(sinceUs)}`,
        )
        .join('\n\n'),
    });
  }

  async #post(changes: readonly AlarmChange[], signal: AbortSignal): Promise<void> {
    const { settings, node, clock } = this.#parts;
    if (settings.webhookUrl === '') return;
    const alarms = changes.map(({ sinceUs, ...change }) => ({
      ...change,
      since: isoMicros(sinceUs),
    }));
    const body = JSON.stringify({ event: 'alarm', node, alarms });
    const signature = hmacSha256(settings.webhookSecret, body).toString('hex');
    const post = this.#parts.post ?? send;
    for (let attempt = 1; ; attempt += 1) {
      const status = await post(settings.webhookUrl, body, signature, signal).catch(() => 0);
      if (status >= 200 && status < 300) return;
      signal.throwIfAborted();
      if (attempt === WEBHOOK_ATTEMPTS)
        throw new Error(`the webhook ${status === 0 ? 'did not answer' : `answered ${status}`}`);
      await clock.sleep(WEBHOOK_PAUSE_MS * attempt, signal);
    }
  }
}

async function send(
  url: string,
  body: string,
  signature: string,
  stop: AbortSignal,
): Promise<number> {
  const reply = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-carillon-signature': `sha256=${signature}`,
    },
    redirect: 'error',
    signal: AbortSignal.any([AbortSignal.timeout(WEBHOOK_LIMIT_MS), stop]),
  });
  await reply.body?.cancel();
  return reply.status;
}
