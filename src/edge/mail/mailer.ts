import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { ServiceError } from '../../base/errors.ts';
import { type Random, uuid } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Mail, Mailer } from '../../base/mailer.ts';

export interface MailOptions {
  /** URL `smtp(s)://user:password@host:port`. If empty, mails become files in a folder. */
  readonly smtpUrl: string;
  readonly from: string;
  readonly outboxFolder: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random: Random;
}

const CONNECT_TIMEOUT_MS = 10_000;
/** Time limit for the server's reply to a command, ms. */
const SOCKET_TIMEOUT_MS = 30_000;
const CONNECTIONS_MAX = 2;

export function createMailer(options: MailOptions): Mailer {
  return options.smtpUrl === '' ? createOutbox(options) : createSmtpMailer(options);
}

function createSmtpMailer({ smtpUrl, from, logger }: MailOptions): Mailer {
  const transport = onceAsked(async () => {
    const { createTransport } = await import('nodemailer');
    const options = {
      url: smtpUrl,
      pool: true,
      maxConnections: CONNECTIONS_MAX,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      // Mail content must never make the mailer read files or fetch URLs.
      disableFileAccess: true,
      disableUrlAccess: true,
    };
    return createTransport(options, { from });
  });
  return {
    async send(mail) {
      try {
        await (await transport.get()).sendMail(mail);
        logger.info({ subject: mail.subject }, 'mail sent');
      } catch (cause) {
        throw new ServiceError('MAIL_FAILED', `mail not sent: ${reasonOf(cause)}`, { cause });
      }
    },
    close: () => transport.close(),
  };
}

/** Writes mails as .eml files, which any mail program opens. Used without a mail server. */
function createOutbox(options: MailOptions): Mailer {
  const { from, outboxFolder, logger, clock, random } = options;
  const transport = onceAsked(async () => {
    const { createTransport } = await import('nodemailer');
    return createTransport({ streamTransport: true, newline: 'windows', buffer: true }, { from });
  });
  return {
    async send(mail: Mail) {
      const date = new Date(clock.wallMs());
      const stamp = date.toISOString().replaceAll(/[-:]|\.\d+/g, '');
      const path = join(outboxFolder, `${stamp}-${uuid(random)}.eml`);
      try {
        const { message } = await (await transport.get()).sendMail({ ...mail, date });
        await mkdir(outboxFolder, { recursive: true, mode: 0o700 });
        await writeFile(path, message, { mode: 0o600 });
      } catch (cause) {
        throw new ServiceError('MAIL_FAILED', `mail not written: ${reasonOf(cause)}`, { cause });
      }
      logger.warn(
        { path, subject: mail.subject },
        'no SMTP server configured, mail written to a file',
      );
    },
    close: () => transport.close(),
  };
}

/** Loads the package for the first mail: it takes 5 MB, and most services send no mail for days. */
function onceAsked<T extends { close(): void }>(make: () => Promise<T>) {
  let made: Promise<T> | undefined;
  return {
    get(): Promise<T> {
      if (made !== undefined) return made;
      const making = make();
      made = making;
      // The next mail tries again.
      making.catch(() => {
        if (made === making) made = undefined;
      });
      return making;
    },
    close(): void {
      made?.then(
        (transport) => transport.close(),
        () => undefined, // `send` reports the failure
      );
    },
  };
}

/** Omits the server's own text where it could repeat credentials. */
const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? ((cause as { code?: string }).code ?? cause.name) : 'unknown';
